/* What a page gets beyond its HTML: times in the viewer's zone, and blocks that one click copies.
   Every page works without it. */
"use strict";

(function () {
  const words = document.getElementById("words").dataset;
  const language = document.documentElement.lang;
  const spoken = new Intl.DateTimeFormat(language === "en" ? "sv-SE" : language, {
    year: "numeric", month: "2-digit", day: "2-digit",
    hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
  });

  /* Said once a page, where it says as of when it is. */
  const zone = new Intl.DateTimeFormat(language, { timeZoneName: "short" });
  function zoneOf(date) {
    return " " + zone.formatToParts(date).find((part) => part.type === "timeZoneName").value;
  }

  /* Times: the server writes UTC; here they become the viewer's, with UTC on hover. */
  function localise(root) {
    for (const time of root.querySelectorAll("time:not([data-local])")) {
      const date = new Date(time.dateTime);
      if (isNaN(date)) continue;
      const utc = time.title;
      if (time.hasAttribute("data-moment")) {
        time.textContent = spoken.format(date) + (time.closest(".asof") ? zoneOf(date) : "");
      } else time.title = spoken.format(date) + "\u2002(" + utc + ")";
      time.setAttribute("data-local", "");
    }
  }

  /* Commands and tokens: one click copies. Only where the browser lets us. */
  function addCopying(root) {
    if (!navigator.clipboard) return;
    for (const block of root.querySelectorAll("pre.copy:not([data-copy])")) {
      block.setAttribute("data-copy", "");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "btn btn-sm copy-button";
      button.textContent = words.copy;
      button.addEventListener("click", function () {
        navigator.clipboard.writeText(block.querySelector("code").textContent).then(
          function () { button.textContent = words.copied; },
          function () { button.textContent = words.notAllowed; }
        );
      });
      block.append(button);
    }
  }

  function prepare(root) {
    localise(root);
    addCopying(root);
  }

  for (const name of ["htmx:load", "part:new"]) {
    document.addEventListener(name, function (event) { prepare(event.detail.elt); });
  }
  prepare(document);
})();
