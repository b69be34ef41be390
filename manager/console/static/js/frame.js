/* The frame: menus that close, and the bar at the side, folded without reloading the page. */
"use strict";

(function () {
  document.addEventListener("click", function (event) {
    const open = document.querySelector(".menu[open]");
    if (open && !open.contains(event.target)) open.open = false;
  });

  const fold = document.getElementById("bar-fold");
  if (!fold) return;
  fold.addEventListener("submit", function (event) {
    const choice = event.submitter && event.submitter.value;
    if (!choice) return;
    event.preventDefault();
    const fields = new URLSearchParams(new FormData(fold));
    fields.set("bar", choice);
    document.documentElement.dataset.bar = choice;
    for (const button of fold.querySelectorAll("button")) {
      if (button.offsetParent) button.focus();
    }
    // It is kept for the next page; if that fails, only the choice is lost.
    fetch(fold.action, { method: "POST", body: fields, redirect: "manual" }).catch(function () {});
  });

  const here = document.querySelector("#bar [aria-current]");
  if (here && here.offsetParent) here.scrollIntoView({ block: "nearest" });
})();
