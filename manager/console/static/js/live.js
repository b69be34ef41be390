/* Live parts: silent in a hidden tab; said where the numbers are old. */
"use strict";

(function () {
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
})();
