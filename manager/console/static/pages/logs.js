/* Days and moments of the search in the viewer's zone, as all times of the page are. The server takes
   what says no zone as UTC, and so it is without this script. */
"use strict";

(function () {
  const ZONED = /(Z|[+-]\d\d:\d\d)$/;
  const DAY = /^\d{4}-\d\d-\d\d$/;

  function two(number) { return String(number).padStart(2, "0"); }

  function dayOf(date) {
    return date.getFullYear() + "-" + two(date.getMonth() + 1) + "-" + two(date.getDate());
  }

  /* The zone's difference to UTC at a moment, as +09:00. */
  function offsetAt(date) {
    const minutes = -date.getTimezoneOffset();
    const size = Math.abs(minutes);
    return (minutes < 0 ? "-" : "+") + two(Math.floor(size / 60)) + ":" + two(size % 60);
  }

  /* The typed time with the viewer's zone; unchanged if it has a zone or is in no known format. */
  function zoned(text, isEnd) {
    const written = text.trim();
    if (!written || ZONED.test(written)) return text;
    const isDay = DAY.test(written);
    const date = new Date(isDay ? written + "T00:00" : written.replace(" ", "T"));
    if (isNaN(date)) return text;
    if (isDay && isEnd) date.setDate(date.getDate() + 1);
    return written + offsetAt(date);
  }

  function fields() { return document.querySelectorAll("form.filters input[data-moment]"); }

  function isEnd(field) { return field.dataset.moment === "end"; }

  function prepare(root) {
    for (const link of root.querySelectorAll("a[data-days-back]")) {
      const date = new Date();
      date.setDate(date.getDate() - Number(link.dataset.daysBack));
      const url = new URL(link.href);
      url.searchParams.set("since", zoned(dayOf(date), false));
      url.searchParams.set("until", zoned(dayOf(date), true));
      link.href = url.pathname + url.search;
    }
  }

  document.addEventListener("htmx:configRequest", function (event) {
    if (!event.target.matches("form.filters")) return;
    for (const field of fields()) {
      if (field.value) event.detail.parameters[field.name] = zoned(field.value, isEnd(field));
    }
  });
  document.addEventListener("formdata", function (event) {
    if (!event.target.matches("form.filters")) return;
    for (const field of fields()) {
      if (field.value) event.formData.set(field.name, zoned(field.value, isEnd(field)));
    }
  });
  for (const name of ["htmx:load", "part:new"]) {
    document.addEventListener(name, function (event) { prepare(event.detail.elt); });
  }
  prepare(document);
})();
