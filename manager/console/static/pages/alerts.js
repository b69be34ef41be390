/* The viewer's time zone in the form of a window, unless another one was typed. */
"use strict";

for (const field of document.querySelectorAll("input[data-zone]")) {
  if (!field.value) field.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
}
