/* A live page (`data-topics`) fetches itself again when the event stream names one of its topics, and
   without a stream every few seconds; differences are merged in. A hidden tab holds no stream and
   fetches nothing. If the manager does not answer, or the session is over, a bar reports it; the page
   continues by itself when it can. */
"use strict";

(function () {
  const POLL_MS = 5000;
  const LEAST_MS = 3000;
  const LEAST_TURNS = 10; // a page that takes 0.5 s is asked for every 5 s at most
  const LONGEST_MS = 30000; // relative times ("5 min ago") become outdated without a change
  const AGAIN_MS = 60000;
  const PATIENCE_MS = 30000;
  const CALM_MS = 600; // nothing moves below a pointer that moves
  const bar = document.getElementById("stale");
  let source = null;
  let listens = false;
  let notBefore = 0; // no stream is opened before
  let asked = Date.now();
  let took = 0;
  let asking = false;
  let changed = false;
  let filtering = 0;
  let pointed = 0;
  let state = "";

  function livePart() {
    return document.querySelector("[data-topics]");
  }

  function address(part) {
    return part.dataset.from || location.pathname + location.search;
  }

  /* away: the manager does not answer; over: the login is; gone: the page is no more; "": all is well. */
  function say(now) {
    if (state === "away" && !now) notBefore = 0;
    state = now;
    bar.hidden = !now;
    for (const text of bar.querySelectorAll("[data-say]")) text.hidden = text.dataset.say !== now;
  }

  function isCalm(part) {
    return !filtering && !part.querySelector(":active") && Date.now() - pointed > CALM_MS;
  }

  async function answered(part, from) {
    const answer = await fetch(from, {
      headers: { "Prsm-Live": "1" }, cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await answer.text();
    if (answer.ok) return new DOMParser().parseFromString(text, "text/html").getElementById(part.id);
    say(answer.status === 401 ? "over" : answer.status >= 500 || answer.status === 429 ? "away" : "gone");
    return null;
  }

  function put(part, fresh) {
    document.adoptNode(fresh);
    document.dispatchEvent(new CustomEvent("part:new", { detail: { elt: fresh } }));
    merge(part, fresh);
    htmx.process(part);
  }

  async function ask() {
    const part = livePart();
    if (asking || !part) return;
    const from = address(part);
    const begun = Date.now();
    asking = true;
    asked = begun;
    changed = false;
    try {
      const fresh = await answered(part, from);
      if (!fresh) return;
      say("");
      took = Date.now() - begun;
      // The shown part may have changed since the request.
      if (part.isConnected && from === address(part) && isCalm(part)) put(part, fresh);
      else changed = true;
    } catch {
      say("away");
    } finally {
      asking = false;
    }
  }

  function due() {
    if (changed) return Math.max(LEAST_MS, LEAST_TURNS * took);
    if (state === "over") return POLL_MS * 3;
    if (state === "away") return LEAST_MS;
    return listens ? LONGEST_MS : Math.max(POLL_MS, LEAST_TURNS * took);
  }

  function open() {
    const part = livePart();
    if (source || document.hidden || !window.EventSource || !part || state || Date.now() < notBefore) return;
    notBefore = Date.now() + LEAST_MS;
    source = new EventSource("/console/events");
    source.addEventListener("hello", function () {
      if (!listens && Date.now() - asked > LEAST_MS) ask();
      listens = true;
    });
    source.addEventListener("changed", function (event) {
      const topics = event.data.split(" ");
      const shown = livePart();
      if (shown && shown.dataset.topics.split(" ").some(function (one) { return topics.includes(one); })) changed = true;
    });
    source.addEventListener("over", function () {
      close();
      ask();
    });
    source.onerror = function () {
      listens = false;
      ask(); // says at once whether it is the manager or only the stream
      // Refused permanently: the browser does not retry.
      if (source && source.readyState === EventSource.CLOSED) {
        close();
        notBefore = Date.now() + AGAIN_MS;
      }
    };
  }

  function close() {
    if (source) source.close();
    source = null;
    listens = false;
  }

  setInterval(function () {
    const part = livePart();
    if (!part || document.hidden) return;
    open();
    if (Date.now() - asked >= due() && isCalm(part)) ask();
  }, 500);

  document.addEventListener("visibilitychange", function () {
    if (document.hidden) return close();
    open();
    if (Date.now() - asked > LEAST_MS || state) ask();
  });
  window.addEventListener("pagehide", close);
  document.addEventListener("pointermove", function (event) {
    if (event.pointerType === "mouse" && event.target.closest("a, button, summary")) pointed = Date.now();
  }, { passive: true });

  /* Forms are not sent while the manager is away: typed values stay on the page until it answers. */
  document.addEventListener("submit", function (event) {
    if (state !== "away" || event.target.getAttribute("method") !== "post") return;
    event.preventDefault();
    bar.classList.remove("stale-again");
    void bar.offsetWidth;
    bar.classList.add("stale-again");
    ask();
  });

  document.addEventListener("htmx:beforeRequest", function () { filtering++; });
  document.addEventListener("htmx:afterRequest", function () { filtering = Math.max(0, filtering - 1); });
  /* A search that continues by itself resumes after a break. */
  function again(event) {
    const part = event.detail.elt;
    say("away");
    ask();
    if (!part.matches("[data-hx-trigger~=again]")) return;
    setTimeout(function () { if (part.isConnected) htmx.trigger(part, "again"); }, LEAST_MS);
  }
  document.addEventListener("htmx:sendError", again);
  document.addEventListener("htmx:responseError", function (event) {
    if (event.detail.xhr.status >= 500) again(event);
  });

  open();
})();
