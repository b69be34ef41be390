/* Keyboard: `/` search, `?` what the keys do, `g` and a letter: the page that the bar gives it. */
"use strict";

(function () {
  const dialog = document.getElementById("keys");
  if (!dialog) return;
  const places = {};
  for (const link of document.querySelectorAll("#bar a[data-key]")) {
    places[link.dataset.key] = link.href;
    link.setAttribute("aria-keyshortcuts", "g " + link.dataset.key);
  }
  let goes = false;
  let timer = 0;

  function types(target) {
    return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  }

  function show() {
    if (!dialog.open) dialog.showModal();
  }

  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape") {
      const open = document.querySelector(".menu[open]");
      if (open) {
        open.open = false;
        open.querySelector("summary").focus();
      } else if (types(event.target)) event.target.blur();
      return;
    }
    if (types(event.target) || dialog.open) return;
    if (goes && Object.hasOwn(places, event.key)) {
      event.preventDefault();
      location.href = places[event.key];
      return;
    }
    goes = event.key === "g";
    clearTimeout(timer);
    timer = setTimeout(function () { goes = false; }, 1500);
    if (event.key === "?") {
      event.preventDefault();
      show();
    }
    if (event.key === "/") {
      const field = document.querySelector(".search input");
      event.preventDefault();
      field.focus();
      field.select();
    }
  });

  const opener = document.getElementById("keys-opener");
  opener.hidden = false;
  opener.addEventListener("click", show);
})();
