/* Choices that are not saved yet stay while the list is filtered, sorted or turned over, and are saved
   with those that are shown; who would lose them by leaving is asked first. */
"use strict";

(function () {
  const chosen = new Map(); // a field's name: its value, and what the row's limit was
  let saving = false;

  function form() { return document.getElementById("choices"); }

  function field(name) { return form().elements.namedItem(name); }

  function agentOf(name) { return name.slice(name.indexOf(" ") + 1); }

  function isOther(select) {
    const first = [...select.options].findIndex(function (one) { return one.defaultSelected; });
    return select.selectedIndex !== Math.max(0, first);
  }

  /* A form with choices belongs to this script: live updates do not replace it. */
  function mark() {
    if (chosen.size) form().setAttribute("data-kept", "");
    else form().removeAttribute("data-kept");
  }

  function note(select) {
    const shown = field("shown " + agentOf(select.name));
    if (isOther(select)) chosen.set(select.name, { value: select.value, shown: shown ? shown.value : "" });
    else chosen.delete(select.name);
    mark();
  }

  function carry(name, value) {
    if (field(name)) return;
    const input = document.createElement("input");
    input.type = "hidden";
    input.name = name;
    input.value = value;
    form().append(input);
  }

  /* Put the choices into the list that has just come: into its rows, and beside them. */
  function restore() {
    if (!form()) return;
    document.getElementById("all-shown").hidden = false;
    const elsewhere = new Set();
    for (const [name, one] of chosen) {
      const select = field(name);
      if (select && select.tagName === "SELECT") {
        if ([...select.options].some(function (each) { return each.value === one.value; })) select.value = one.value;
        // The shown value is sent too, so that a limit that was set since is not overwritten.
        const shown = field("shown " + agentOf(name));
        if (shown && one.shown) shown.value = one.shown;
        continue;
      }
      carry(name, one.value);
      if (one.shown) carry("shown " + agentOf(name), one.shown);
      elsewhere.add(agentOf(name));
    }
    const said = document.getElementById("elsewhere");
    said.hidden = !elsewhere.size;
    said.lastElementChild.textContent = [...elsewhere].sort().join(", ");
    mark();
  }

  document.addEventListener("change", function (event) {
    if (form() && form().contains(event.target) && event.target.tagName === "SELECT") note(event.target);
  });
  document.addEventListener("click", function (event) {
    if (!form() || !form().contains(event.target)) return;
    const button = event.target.closest("button[data-all]");
    if (button) {
      for (const select of form().querySelectorAll("select")) {
        const fits = [...select.options].some(function (one) { return one.value === button.dataset.value; });
        if (!select.name.startsWith(button.dataset.all) || !fits) continue;
        select.value = button.dataset.value;
        note(select);
      }
      return;
    }
    const link = event.target.closest("thead a, .pager a:not([download])");
    if (!link || !chosen.size || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    htmx.ajax("GET", link.getAttribute("href"), { target: "#list", select: "#list", swap: "outerHTML" });
  });
  document.addEventListener("submit", function (event) { if (event.target === form()) saving = true; });
  window.addEventListener("pageshow", function () { saving = false; });
  window.addEventListener("beforeunload", function (event) {
    if (chosen.size && !saving) event.preventDefault();
  });
  // Restored twice: at the swap, so that a submit finds the choices, and after htmx has settled, which resets
  // the attributes of elements with an id.
  document.addEventListener("htmx:afterSwap", restore);
  document.addEventListener("htmx:afterSettle", restore);
  restore();
})();
