"""Every page as people see it: light and dark, at a desk and on a telephone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.browser.checked import html_errors
from tests.manager.console.english import left_in
from tools.browser.driven import DESK, PHONE, Browser, Window
from tools.screenshots.pages import BEFORE_LOGIN, PAGES, address
from tools.screenshots.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1800)]

WINDOWS = [replace(size, dark=dark) for size in (DESK, PHONE) for dark in (False, True)] + [
    replace(size, language="ja") for size in (DESK, PHONE)
]
NOT_THERE = "nothing-there"
MATRIX = "probe-matrix"
WRITTEN = (
    "its owner asked by mail: the machine is small, and is switched off on holidays",
    "its owner asked",
    "it is next door",
    "never ends",
    "new disks",
    "no page came within 60 s",
    "all agents",
    "long words that nobody types twice",
    "no such thing",
)
"""What people, sites and the audit of the stage and of the tests before wrote; long ones first."""


@pytest.mark.parametrize("window", WINDOWS, ids=lambda window: window.name)
def test_every_page_is_sound(
    stage: Stage, names: Mapping[str, str], browser: Browser, window: Window
) -> None:
    """No complaint of the browser, no other origin, nothing to scroll to the side or cut off, axe
    content.

    At a desk no table is wider than its box, except the one with a column for each agent.
    """
    wrong = []
    browser.open(window)
    for page in PAGES:
        browser.go(address(page, names))
        said = list(browser.found())
        if page == NOT_THERE:
            said = [one for one in said if "404" not in one]
        wrong += [f"{page}: {one}" for one in said]
        wrong += [f"{page}: axe: {one}" for one in browser.axe()]
        if browser.overflow() > 0:
            wrong.append(f"{page}: {browser.overflow()} pixels wider than the window")
        wrong += [f"{page}: {one}" for one in browser.stick_out()]
        if window.width == DESK.width and page != MATRIX:
            wrong += [f"{page}: table {one}" for one in browser.cut_tables()]
        if page == BEFORE_LOGIN:
            browser.log_in(stage.name, stage.password)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_page_is_valid_html(
    stage: Stage, names: Mapping[str, str], browser: Browser, tmp_path: Path, language: str
) -> None:
    """The Nu HTML checker finds no error."""
    browser.open(replace(DESK, language=language))
    pages = {}
    for page in PAGES:
        browser.go(address(page, names))
        pages[page] = browser.html()
        if page == BEFORE_LOGIN:
            browser.log_in(stage.name, stage.password)
    wrong = html_errors(pages, tmp_path)
    assert not wrong, "\n".join(wrong)


def test_whoever_chose_japanese_reads_japanese(
    stage: Stage, names: Mapping[str, str], browser: Browser
) -> None:
    """No page of a system that people use says anything in English of its own."""
    browser.open(replace(DESK, language="ja"))
    wrong = []
    for page in PAGES:
        browser.go(address(page, names))
        html = browser.html()
        for words in WRITTEN:
            html = html.replace(words, "")
        wrong += [f"{page}: {text}" for text in left_in(html)]
        if page == BEFORE_LOGIN:
            browser.log_in(stage.name, stage.password)
    assert not wrong, "\n".join(wrong)
