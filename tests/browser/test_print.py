"""The report of a round on paper: whatever the screen looked like, it prints dark on white."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.e2e.manager_process import ManagerProcess
from tests.manager.console.filled import PASSWORD
from tools.browser.driven import DESK, Browser

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

COLOURS = """
[...document.querySelectorAll("main, main *")].filter(each => each.checkVisibility()).map(each => {
  const style = getComputedStyle(each);
  const names = ["color", "backgroundColor", "fill", "stroke", "borderTopColor"];
  return `${each.tagName}.${each.getAttribute("class")}: ` + names.map(one => style[one]).join(" ");
})
"""
"""What a person sees of the page, each element with its colours."""
TO_CLICK = """
[...document.querySelectorAll(
  "nav, form, button, .bar, .top, .crumbs, .actions, .files, .no-print")]
  .filter(each => each.checkVisibility()).map(each => each.outerHTML)
"""
"""What is for clicking, and of no use on paper."""
PALE = """
(() => {
  const canvas = document.createElement("canvas").getContext("2d");
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const each = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !each.checkVisibility()) continue;
    const style = getComputedStyle(each);
    canvas.fillStyle = each.closest("svg") ? style.fill : style.color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map(part =>
      part <= 10 ? part / 3295 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    const contrast = 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
    if (contrast < 4.5) found.push(`${texts.currentNode.data.trim()}: ${contrast.toFixed(1)}`);
  }
  return found;
})()
"""
"""The texts whose contrast to white paper is below that of WCAG AA."""


@pytest.mark.parametrize("chosen", ["system", "dark"])
def test_a_report_from_a_dark_screen_prints_as_from_a_light_one(
    filled: ManagerProcess, chosen: str
) -> None:
    """Dark by the system, or by the menu: the paper is white, and every text on it can be read."""
    printed = []
    with Browser(filled.url) as browser:
        for dark in (False, True):
            browser.open(replace(DESK, dark=dark))
            browser.log_in("admin", PASSWORD)
            browser.go("/console/rounds/1")
            if dark and chosen == "dark":
                browser.script("document.documentElement.dataset.bsTheme = 'dark'")
            browser.to_paper()
            assert browser.script(PALE) == []
            assert browser.script(TO_CLICK) == []
            assert browser.script("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
            printed.append(browser.script(COLOURS))
    assert printed[0]
    assert printed[1] == printed[0]
