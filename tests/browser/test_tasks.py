"""Tasks of a new administrator, begun on the overview: how many clicks each takes.

The figures are those of docs/console.md: a page that makes a task longer fails here.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tools.browser.driven import DESK, Browser
from tools.screenshots.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def admin(stage: Stage, browser: Browser) -> Browser:
    """Stand on the overview."""
    browser.open(DESK)
    browser.log_in(stage.name, stage.password)
    browser.wait_for("h1:has-text('Overview')")
    browser.clicks = 0
    return browser


def _search(admin: Browser, text: str) -> None:
    admin.fill(".search input", text)
    admin.press_in(".search input", "Enter")


def test_why_an_agent_is_as_it_is(admin: Browser, names: Mapping[str, str]) -> None:
    """The overview names each agent with its reason, and leads to it."""
    admin.click(f"main .reasons a:has-text('{names['agent']}')")
    admin.wait_for(f"h1:has-text('{names['agent']}')")
    assert admin.clicks == 1


def test_who_owns_a_host_and_why(admin: Browser, names: Mapping[str, str]) -> None:
    """By the search field; the reason is in the table of owners."""
    _search(admin, names["host"])
    admin.wait_for("h2:has-text('Owners')")
    assert admin.clicks == 1


def test_all_500s_of_yesterday(admin: Browser) -> None:
    """The bar, then two links."""
    admin.click(".bar a[href='/console/logs']")
    admin.click(".tally a:has-text('Yesterday')")
    admin.click(".tally a:has-text('5xx')")
    assert admin.clicks == 3
    assert "status=5xx" in admin.path


def test_that_a_download_has_finished(admin: Browser) -> None:
    """The third party's page has its downloads."""
    admin.click(".bar a[href='/console/data']")
    admin.click("#list a:has-text('library')")
    admin.wait_for("h2:has-text('Downloads')")
    assert admin.clicks == 2
