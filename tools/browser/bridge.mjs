// Debian's Chromium at the end of a pipe: a command a line as JSON, an answer a line as JSON.
//
//   {"do": "open", "width", "height", "dark", "language"}   a page with cookies of its own
//   {"do": "go", "url"}                                     to a page, and all that it loads
//   {"do": "page", "method", "with": [...]}                 page.method(...with)
//   {"do": "at", "selector", "method", "with": [...]}       page.locator(selector).method(...with)
//   {"do": "webp", "path"}                                  a small picture of what is in the window
//   {"do": "axe"}                                           what axe finds serious or critical
//   {"do": "found"}                                         what went wrong since it was last asked
//   {"do": "block", "pattern"}                              lets nothing through to such addresses
//   {"do": "context", "method", "with": [...]}              context.method(...with)
//   {"do": "key", "key"}                                    a key, wherever the page has its focus
//   {"do": "download", "selector", "path"}                  the file that a click brings; its name
//   {"do": "served"}                                        the body of the page that came last
//
// Answers: {"value": ...} or {"error": "..."}. What went wrong: console errors, exceptions of
// scripts, and requests to another origin than the page's, which are not let through.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const [, , chromiumPath, origin, patience] = process.argv;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const NETWORK_CHANGED = "ERR_NETWORK_CHANGED";
const [AGAIN, AGAIN_MS] = [5, 500];
const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--disable-gpu"] });
let context = null;
let page = null;
let served = null;
let found = [];

async function open({ width, height, dark, language }) {
  if (context) await context.close();
  found = [];
  context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    locale: language,
    timezoneId: "Asia/Tokyo",
    reducedMotion: "reduce",
    hasTouch: width < 500,
  });
  context.setDefaultTimeout(Number(patience));
  await context.route(
    (url) => url.origin !== origin && url.protocol.startsWith("http"),
    (route) => {
      found.push(`request to another origin: ${route.request().url()}`);
      return route.abort();
    },
  );
  page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error") found.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("response", (response) => {
    if (response.request().isNavigationRequest() && response.frame() === page.mainFrame()) served = response;
  });
  page.on("pageerror", (error) => found.push(`exception: ${error}`));
}

// A network interface that comes or goes anywhere on the machine makes Chromium break off what it
// loads, on loopback too (tests of cut networks make some): no fault of the page, which is asked
// for again.
async function go({ url }) {
  for (let again = AGAIN; ; again -= 1) {
    const before = found.length;
    let error = null;
    await page.goto(url, { waitUntil: "load" }).catch((one) => { error = one; });
    const said = [...found.slice(before), String(error)];
    if (!again || !said.some((one) => one.includes(NETWORK_CHANGED))) {
      if (error) throw error;
      return;
    }
    found.length = before;
    await page.waitForTimeout(AGAIN_MS);
  }
}

async function download({ selector, path }) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator(selector).click()]);
  await file.saveAs(path);
  return file.suggestedFilename();
}

// The browser writes WebP itself: no program for pictures is needed.
async function webp({ path }) {
  const png = (await page.screenshot()).toString("base64");
  const made = await page.evaluate(async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.9).split(",")[1];
  }, png);
  writeFileSync(path, Buffer.from(made, "base64"));
}

async function serious() {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(
    (tags) => globalThis.axe.run(document, { runOnly: tags, resultTypes: ["violations"] }), RULES,
  );
  return violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.help}: ` + one.nodes.slice(0, 4)
      .map((node) => `${node.target.join(" ")} (${node.any.concat(node.all, node.none)[0]?.message ?? ""})`)
      .join("; "));
}

const DEEDS = {
  open,
  go,
  page: (asked) => page[asked.method](...asked.with),
  at: (asked) => page.locator(asked.selector)[asked.method](...asked.with),
  context: (asked) => context[asked.method](...asked.with),
  block: (asked) => page.route(asked.pattern, (route) => route.abort()),
  key: (asked) => page.keyboard.press(asked.key),
  download,
  served: () => served.text(),
  webp,
  axe: serious,
  found: () => found.splice(0),
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let answer;
  try {
    const value = await DEEDS[asked.do](asked);
    const plain = value === undefined || value?.constructor?.name === "Response" ? null : value;
    answer = { value: plain instanceof Buffer ? null : plain };
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
await browser.close();
