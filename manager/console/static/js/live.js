/* Live parts: an element with data-topics fetches itself anew (its data-hx-trigger is `refresh`) when the
   event stream names one of its topics. Without a stream it does so every few seconds. A hidden tab
   holds no stream and asks nothing; where the manager does not answer, that is said. */
"use strict";

(function () {
  const POLL_MS = 5000;
  const LEAST_MS = 3000;
  const LONGEST_MS = 30000; // times that are told as "ago" grow old by themselves
  const AGAIN_MS = 60000;
  const asked = {}; // when, by what a part asks for: the part itself is another after each answer
  let source = null;
  let listens = false;
  let opened = 0;
  let missed = false;
  let focus = null;

  function parts() {
    return document.querySelectorAll("[data-topics]");
  }

  function nameOfPart(part) {
    return part.id + " " + part.getAttribute("data-hx-get");
  }

  function isLive(element) {
    return element && (element.id === "live" || element.hasAttribute("data-topics"));
  }

  function stale(is) {
    document.getElementById("stale").hidden = !is;
  }

  function isUsed(part) {
    const at = document.activeElement;
    return part.contains(at) && /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName);
  }

  function refresh(part, least) {
    const now = Date.now();
    if (document.hidden || isUsed(part) || now - (asked[nameOfPart(part)] || 0) < least) return false;
    asked[nameOfPart(part)] = now;
    htmx.trigger(part, "refresh");
    return true;
  }

  function open() {
    if (source || document.hidden || !window.EventSource || !parts().length) return;
    if (Date.now() - opened < LEAST_MS) return;
    opened = Date.now();
    source = new EventSource("/console/events");
    source.addEventListener("hello", function () {
      listens = true;
      if (missed) for (const part of parts()) refresh(part, 0);
      missed = false;
    });
    source.addEventListener("changed", function (event) {
      const topics = event.data.split(" ");
      for (const part of parts()) {
        if (part.dataset.topics.split(" ").some(function (one) { return topics.includes(one); })) {
          part.dataset.changed = "";
          if (refresh(part, LEAST_MS)) delete part.dataset.changed;
        }
      }
    });
    source.addEventListener("over", function () {
      close();
      for (const part of parts()) refresh(part, 0);
    });
    source.onerror = function () {
      listens = false;
      missed = true;
      // Refused for good: the browser does not try again by itself.
      if (source && source.readyState === EventSource.CLOSED) {
        close();
        opened = Date.now() + AGAIN_MS;
      }
    };
  }

  function close() {
    if (source) source.close();
    source = null;
    listens = false;
    missed = true;
  }

  setInterval(function () {
    open();
    for (const part of parts()) {
      const changed = "changed" in part.dataset;
      const due = changed ? LEAST_MS : listens ? LONGEST_MS : POLL_MS;
      if (refresh(part, due)) delete part.dataset.changed;
    }
  }, 1000);

  document.addEventListener("visibilitychange", function () {
    if (document.hidden) return close();
    open();
    for (const part of parts()) refresh(part, LEAST_MS);
  });
  window.addEventListener("pagehide", close);

  document.addEventListener("htmx:beforeRequest", function (event) {
    if (isLive(event.detail.elt) && document.hidden) event.preventDefault();
  });
  document.addEventListener("htmx:afterRequest", function (event) {
    // Not `elt`: that is the part's parent where the part has been replaced.
    if (isLive(event.detail.requestConfig.elt)) stale(!event.detail.successful);
  });

  /* Who stands on a link or button of a part stands on the same one when the part is new. */
  function nameOf(element) {
    return [element.tagName, element.getAttribute("href"), element.getAttribute("name"),
      element.getAttribute("value"), element.textContent.trim().slice(0, 80)].join("\n");
  }

  document.addEventListener("htmx:beforeSwap", function (event) {
    const at = document.activeElement;
    focus = event.detail.target.contains(at) && !at.id ? nameOf(at) : null;
  });
  document.addEventListener("htmx:afterSettle", function () {
    if (!focus || (document.activeElement && document.activeElement !== document.body)) return;
    for (const each of document.querySelectorAll("main a, main button, main summary")) {
      if (nameOf(each) === focus) {
        each.focus({ preventScroll: true });
        break;
      }
    }
    focus = null;
  });

  for (const part of parts()) asked[nameOfPart(part)] = Date.now();
  open();
})();
