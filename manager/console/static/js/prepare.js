/* What a page gets beyond its HTML: times in the viewer's zone, and blocks that one click copies.
   Every page works without it. */
"use strict";

(function () {
  const words = document.getElementById("words").dataset;
  const language = document.documentElement.lang;
  const date = { year: "numeric", month: "2-digit", day: "2-digit" };
  const minute = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const second = { ...minute, second: "2-digit" };

  function format(parts, locale) {
    return new Intl.DateTimeFormat(locale || (language === "en" ? "sv-SE" : language), parts);
  }

  /* What `data-moment` and `data-form` name. */
  const forms = {
    "": format({ ...date, ...second }),
    minute: format({ ...date, ...minute }),
    time: format(minute),
    day: format({ month: "2-digit", day: "2-digit" }),
  };
  const weekday = format({ weekday: "short" }, language);
  forms.weekday = { format: (at) => weekday.format(at) + " " + forms.minute.format(at) };

  /* Said once a page, where it says as of when it is. */
  const zone = new Intl.DateTimeFormat(language, { timeZoneName: "short" });
  function zoneOf(date) {
    return " " + zone.formatToParts(date).find((part) => part.type === "timeZoneName").value;
  }

  /* Times: the server writes UTC; here they become the viewer's, with UTC on hover. In drawings
     `data-at` is the moment and `data-said` the part of the text that says it. */
  function localise(root) {
    for (const time of root.querySelectorAll("time:not([data-local])")) {
      const at = new Date(time.dateTime);
      if (isNaN(at)) continue;
      const utc = time.title;
      if (time.hasAttribute("data-moment")) {
        const form = forms[time.dataset.moment] || forms[""];
        time.textContent = form.format(at) + (time.closest(".asof") ? zoneOf(at) : "");
      } else time.title = forms[""].format(at) + "\u2002(" + utc + ")";
      time.setAttribute("data-local", "");
    }
    for (const mark of root.querySelectorAll("[data-at]:not([data-local])")) {
      const at = new Date(mark.dataset.at);
      if (isNaN(at)) continue;
      const said = mark.dataset.said;
      const text = (forms[mark.dataset.form] || forms[""]).format(at);
      mark.textContent = mark.textContent.replace(said, text);
      mark.setAttribute("data-local", "");
    }
    for (const mark of root.querySelectorAll("[data-zone]:not([data-local])")) {
      mark.textContent = zoneOf(new Date()).trim();
      mark.setAttribute("data-local", "");
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
