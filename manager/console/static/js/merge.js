/* Updates a part of the page to the version that the manager sent, and touches only differences. Elements stay
   the same ones, so focus, places of scrolling and what is folded open stay. Invariant: a form with
   typed values, an open dialogue and selected text are neither changed nor removed, and an element
   with `data-kept` belongs to a script of the page. */
"use strict";

window.merge = (function () {
  const CELLS_MOST = 250000;

  function isTyped(field) {
    if (field.type === "file") return field.files.length > 0;
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    if (field.tagName === "SELECT") {
      const chosen = [...field.options].findIndex(function (one) { return one.defaultSelected; });
      return field.selectedIndex !== Math.max(0, chosen) && field.options.length > 0;
    }
    return field.value !== field.defaultValue;
  }

  function isWrittenIn(form) {
    const at = document.activeElement;
    if (form.contains(at) && /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)) return true;
    return [...form.querySelectorAll("input, textarea, select")].some(isTyped);
  }

  function isSelected(node) {
    const selection = getSelection();
    return !selection.isCollapsed && selection.containsNode(node, true);
  }

  /* Whether an element may not be changed. */
  function isHeld(element) {
    if (element.matches("[data-kept], dialog[open]")) return true;
    return element.tagName === "FORM" && isWrittenIn(element);
  }

  /* Whether a node may not be taken away. */
  function holds(node) {
    if (isSelected(node)) return true;
    if (node.nodeType !== Node.ELEMENT_NODE) return false;
    if (isHeld(node) || node.matches("details.more[open]")) return true;
    return [...node.querySelectorAll("[data-kept], dialog[open], details.more[open], form")].some(
      function (one) { return one.tagName !== "FORM" || isWrittenIn(one); });
  }

  /* What a row or an item of a list is about: it stays the same element wherever it goes. */
  function subject(element) {
    if (element.hasAttribute("id")) return "#" + element.getAttribute("id");
    if (element.tagName !== "TR" && element.tagName !== "LI") return "";
    const head = element.querySelector("th") || element;
    const link = head.querySelector("a[href]");
    return element.tagName + " " + (link ? link.getAttribute("href") : head.textContent.trim());
  }

  /* Whether an item is known by its words alone, which a time or a number in them makes others. */
  function isWordsOnly(node) {
    return node.nodeType === Node.ELEMENT_NODE && node.tagName === "LI" && !node.id && !node.querySelector("a[href], form");
  }

  /* What a node is like, so that a list of nodes can be laid beside another. */
  function likeness(node) {
    if (node.nodeType !== Node.ELEMENT_NODE) return node.data.trim() ? "#text" : "#space";
    const about = subject(node);
    if (about) return about;
    const heading = node.tagName === "SECTION" ? node.querySelector("h2") : null;
    return [node.tagName, (node.getAttribute("class") || "").split(" ")[0], node.getAttribute("action"),
      heading && heading.textContent.replace(/[\d.,\s]+/g, "")].join(" ");
  }

  /* The index in `old` that each item of `fresh` continues, or -1: the longest common sequence. */
  function aligned(old, fresh) {
    const found = new Array(fresh.length).fill(-1);
    let start = 0;
    let [oldEnd, end] = [old.length, fresh.length];
    while (start < oldEnd && start < end && old[start] === fresh[start]) found[start] = start++;
    while (oldEnd > start && end > start && old[oldEnd - 1] === fresh[end - 1]) found[--end] = --oldEnd;
    const [rows, columns] = [oldEnd - start, end - start];
    if (!rows || !columns || rows * columns > CELLS_MOST) return found;
    const width = columns + 1;
    const lengths = new Uint32Array((rows + 1) * width);
    for (let row = rows - 1; row >= 0; row--) {
      for (let column = columns - 1; column >= 0; column--) {
        const here = row * width + column;
        lengths[here] = old[start + row] === fresh[start + column]
          ? lengths[here + width + 1] + 1
          : Math.max(lengths[here + width], lengths[here + 1]);
      }
    }
    for (let row = 0, column = 0; row < rows && column < columns;) {
      const here = row * width + column;
      if (old[start + row] === fresh[start + column]) found[start + column++] = start + row++;
      else if (lengths[here + width] >= lengths[here + 1]) row++;
      else column++;
    }
    return found;
  }

  function mergeAttributes(old, fresh) {
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !(name === "open" && old.tagName === "DETAILS")) old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value && name !== "open") old.setAttribute(name, value);
    }
  }

  function mergeChildren(old, fresh) {
    const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
    const pairs = aligned(before.map(likeness), after.map(likeness));
    const matched = new Set(pairs.filter(function (one) { return one >= 0; }));
    const moved = new Map(); // rows that stand elsewhere now
    before.forEach(function (node, index) {
      const about = !matched.has(index) && node.nodeType === Node.ELEMENT_NODE && subject(node);
      if (about) moved.set(about, node);
    });
    const taken = after.map(function (node, index) {
      if (pairs[index] >= 0) return before[pairs[index]];
      const about = node.nodeType === Node.ELEMENT_NODE && subject(node);
      const same = about && moved.get(about);
      if (same) moved.delete(about);
      return same || null;
    });
    // An item with new words continues an item whose words are gone.
    const left = [...moved.values()].filter(function (node) { return isWordsOnly(node) && !holds(node); });
    const result = after.map(function (node, index) {
      return taken[index] || (isWordsOnly(node) && left.shift()) || node;
    });
    const stays = new Set(result);
    const held = new Set();
    for (const node of before) {
      if (stays.has(node)) continue;
      if (holds(node)) held.add(node);
      else node.remove();
    }
    let at = old.firstChild;
    result.forEach(function (node, index) {
      while (held.has(at)) at = at.nextSibling;
      if (node === at) at = at.nextSibling;
      else old.insertBefore(node, at);
      if (node !== after[index]) mergeNode(node, after[index]);
    });
  }

  function mergeNode(old, fresh) {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (!isSelected(old)) old.data = fresh.data;
      return;
    }
    if (isHeld(old)) return;
    mergeAttributes(old, fresh);
    mergeChildren(old, fresh);
  }

  function nameOf(element) {
    return [element.tagName, element.getAttribute("href"), element.getAttribute("name"),
      element.getAttribute("value"), element.textContent.trim().slice(0, 80)].join("\n");
  }

  /* Who stands on a link or button stands on it afterwards, or on the one that took its place. */
  function refocus(part, was, name) {
    if (document.activeElement === was || !name) return;
    const same = was.isConnected ? was
      : [...part.querySelectorAll("a, button, summary")].find(function (one) { return nameOf(one) === name; });
    if (same) same.focus({ preventScroll: true });
  }

  return function (part, fresh) {
    const was = document.activeElement;
    const name = part.contains(was) ? nameOf(was) : "";
    mergeAttributes(part, fresh);
    mergeChildren(part, fresh);
    refocus(part, was, name);
  };
})();
