/* Read a signed file of this machine into the field of its form. Without this script it is pasted. */
"use strict";

(function () {
  for (const picked of document.querySelectorAll("input[type=file][data-into]")) {
    picked.parentElement.hidden = false;
    picked.addEventListener("change", async function () {
      if (picked.files[0]) picked.form.elements[picked.dataset.into].value = await picked.files[0].text();
    });
  }
})();

/* Publish a release whose targets were signed where the key is: the file is streamed to
   /api/v1/releases/bundles, then the targets name it. Without this script the commands do it. */

(function () {
  const form = document.getElementById("publish");
  if (!form) return;
  const [words, bar, said] = [form.dataset, form.querySelector("progress"), form.querySelector("output")];
  const button = form.querySelector("button");
  form.hidden = false;

  function say(text, bad) {
    said.textContent = text;
    said.className = "said " + (bad ? "said-bad" : "said-know");
    said.hidden = false;
  }

  function post(path, type, body) {
    return new Promise(function (resolve, reject) {
      const request = new XMLHttpRequest();
      request.open("POST", "/api/v1/releases/" + path);
      request.setRequestHeader("Content-Type", type);
      request.setRequestHeader("X-CSRF-Token", form.elements.csrf.value);
      request.upload.addEventListener("progress", function (event) {
        if (event.lengthComputable) bar.value = event.loaded / event.total;
      });
      request.addEventListener("error", function () { reject(new Error(words.broken)); });
      request.addEventListener("load", function () {
        let answer = {};
        try { answer = JSON.parse(request.responseText || "{}"); } catch { /* said below */ }
        if (request.status < 300) resolve(answer);
        else reject(new Error(answer.detail || words.broken + " (" + request.status + ")"));
      });
      request.send(body);
    });
  }

  form.addEventListener("submit", async function (event) {
    event.preventDefault();
    const [bundle, targets] = [form.elements.bundle.files[0], form.elements.targets.files[0]];
    if (!bundle || !targets) return;
    if (bundle.size > Number(words.most)) { say(words.large, true); return; }
    button.disabled = true;
    bar.hidden = false;
    say(words.going, false);
    try {
      await post("bundles", "application/octet-stream", bundle);
      const done = await post("publish", "application/json", JSON.stringify({ targets: await targets.text() }));
      say(words.done.replace("VERSION", done.versions.join(", ")), false);
      form.querySelector("a").hidden = false;
    } catch (error) {
      say(error.message, true);
    }
    bar.hidden = true;
    button.disabled = false;
  });
})();
