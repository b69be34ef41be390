/* What the pages do beyond HTML. Every page works without it. */
"use strict";

(function () {
  const two = (number) => String(number).padStart(2, "0");

  /* Times: the server writes UTC; here they become the viewer's, with UTC on hover. */
  function local(date) {
    const day = date.getFullYear() + "-" + two(date.getMonth() + 1) + "-" + two(date.getDate());
    return day + " " + two(date.getHours()) + ":" + two(date.getMinutes()) + ":" + two(date.getSeconds());
  }

  function localise(root) {
    for (const time of root.querySelectorAll("time:not([data-local])")) {
      const date = new Date(time.dateTime);
      if (isNaN(date)) continue;
      const utc = time.title;
      if (time.hasAttribute("data-moment")) time.textContent = local(date);
      else time.title = local(date) + "\u2002(" + utc + ")";
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
      button.textContent = "Copy";
      button.addEventListener("click", function () {
        navigator.clipboard.writeText(block.querySelector("code").textContent).then(
          function () { button.textContent = "Copied"; },
          function () { button.textContent = "Not allowed"; }
        );
      });
      block.append(button);
    }
  }

  function prepare(root) {
    localise(root);
    addCopying(root);
  }

  /* Keyboard: `/` search, `g` and a letter: a page. */
  const places = { a: "agents", h: "hosts", r: "rounds", c: "collection", d: "data", o: "" };
  let goes = false;
  let timer = 0;

  function types(target) {
    return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  }

  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape") {
      const open = document.querySelector(".menu[open]");
      if (open) open.open = false;
      else if (types(event.target)) event.target.blur();
      return;
    }
    if (types(event.target)) return;
    if (goes && Object.hasOwn(places, event.key)) {
      event.preventDefault();
      location.href = "/console/" + places[event.key];
      return;
    }
    goes = event.key === "g";
    clearTimeout(timer);
    timer = setTimeout(function () { goes = false; }, 1500);
    if (event.key === "/") {
      const field = document.querySelector(".search input");
      if (!field) return;
      event.preventDefault();
      field.focus();
      field.select();
    }
  });

  document.addEventListener("click", function (event) {
    const open = document.querySelector(".menu[open]");
    if (open && !open.contains(event.target)) open.open = false;
  });

  /* Live parts: silent in a hidden tab; said where the numbers are old. */
  function isLive(element) {
    return element && element.id === "live";
  }

  function stale(is) {
    document.getElementById("stale").hidden = !is;
  }

  document.addEventListener("htmx:beforeRequest", function (event) {
    if (isLive(event.detail.elt) && document.hidden) event.preventDefault();
  });
  document.addEventListener("htmx:afterRequest", function (event) {
    if (isLive(event.detail.elt)) stale(!event.detail.successful);
  });
  document.addEventListener("htmx:load", function (event) { prepare(event.detail.elt); });

  prepare(document);
  const here = document.querySelector(".pages [aria-current]");
  if (here) here.scrollIntoView({ block: "nearest", inline: "center" });
})();
