/* Drawings as PNG: the browser paints the SVG file of the same drawing. Without this there is SVG.
   And a button that prints. */
"use strict";

(function () {
  const SCALE = 2;
  const MOST = 16000; /* pixels a side: larger canvases fail in some browsers */

  function painted(text) {
    return new Promise(function (resolve, reject) {
      const image = new Image();
      image.onload = function () {
        const scale = Math.min(SCALE, MOST / image.naturalWidth, MOST / image.naturalHeight);
        const canvas = document.createElement("canvas");
        canvas.width = Math.ceil(image.naturalWidth * scale);
        canvas.height = Math.ceil(image.naturalHeight * scale);
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob(function (blob) { if (blob) resolve(blob); else reject(new Error("no PNG")); }, "image/png");
      };
      image.onerror = reject;
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    });
  }

  async function save(link) {
    const answer = await fetch(link.href, { credentials: "same-origin" });
    if (!answer.ok) throw new Error(String(answer.status));
    const address = URL.createObjectURL(await painted(await answer.text()));
    const saving = document.createElement("a");
    saving.href = address;
    saving.download = link.dataset.png + ".png";
    saving.click();
    setTimeout(function () { URL.revokeObjectURL(address); }, 60000);
  }

  function prepare(root) {
    for (const link of root.querySelectorAll("a[data-png][hidden]")) {
      link.hidden = false;
      link.addEventListener("click", function (event) {
        event.preventDefault();
        save(link).catch(function () { location.href = link.href; });
      });
    }
    for (const button of root.querySelectorAll("[data-print][hidden]")) {
      button.hidden = false;
      button.addEventListener("click", function () { window.print(); });
    }
  }

  for (const name of ["htmx:load", "part:new"]) {
    document.addEventListener(name, function (event) { prepare(event.detail.elt); });
  }
  prepare(document);
})();
