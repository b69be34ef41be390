/* A form with a slow answer (`data-long`: the text shown meanwhile, with SECONDS in it): it is sent
   once, and shows the elapsed time. The page stays live meanwhile. */
"use strict";

(function () {
  const FIRST_MS = 800;
  const going = new Map(); // forms, with what ends their waiting

  function begin(form) {
    const since = Date.now();
    const said = document.createElement("output");
    said.className = "quiet";
    form.setAttribute("data-kept", "");
    form.append(said);
    function tell() {
      const passed = Date.now() - since;
      if (passed >= FIRST_MS) said.textContent = form.dataset.long.replace("SECONDS", String(Math.round(passed / 1000)));
    }
    const timer = setInterval(tell, 500);
    going.set(form, function () {
      clearInterval(timer);
      said.remove();
      form.removeAttribute("data-kept");
    });
  }

  document.addEventListener("submit", function (event) {
    const form = event.target;
    if (event.defaultPrevented || !form.matches("[data-long]")) return;
    if (going.has(form)) event.preventDefault();
    else begin(form);
  });

  /* The browser's back button shows the form in its first state. */
  window.addEventListener("pageshow", function () {
    for (const end of going.values()) end();
    going.clear();
  });
})();
