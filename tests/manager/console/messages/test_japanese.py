"""Whoever chose Japanese reads Japanese: every page of a filled system, and of the first day."""

from __future__ import annotations

from collections.abc import Iterable

from tests.manager.console.browser import Browser
from tests.manager.console.conftest import Visitor
from tests.manager.console.english import left_in
from tests.manager.console.pages.test_pages import ADDRESSES, REFUSED
from tests.manager.running import Running


def _all_japanese(browser: Browser, addresses: Iterable[str]) -> None:
    found = []
    for address in addresses:
        answer = browser.get(address, accept_language="ja")
        assert 'lang="ja"' in answer.text, address
        found += [f"{address}: {text}" for text in left_in(answer.text)]
    assert not found, "\n".join(found)


def test_no_english_is_left(person: Visitor) -> None:
    """Of what the console says itself; what others wrote is marked as English, or is a name."""
    _all_japanese(person("admin"), ADDRESSES)


def test_no_english_is_left_for_a_viewer(person: Visitor) -> None:
    """Who may not act reads other sentences here and there."""
    browser = person("viewer")
    _all_japanese(browser, [one for one in ADDRESSES if browser.get(one).status_code == 200])


def test_no_english_is_left_on_the_first_day(fresh: Running) -> None:
    """Pages without anything say in Japanese what to do first."""
    browser = Browser(fresh.public)
    browser.log_in("admin")
    lists = dict.fromkeys(address.partition("?")[0] for address in ADDRESSES)
    _all_japanese(browser, [one for one in lists if browser.get(one).status_code == 200])


def test_refusals_are_japanese(person: Visitor) -> None:
    """What is wrong, and with which value, is said in the language of the page."""
    _all_japanese(person("admin"), [address for address, _status in REFUSED])


def test_english_is_found() -> None:
    """A message that was not translated, an attribute, a sentence; not a command, nor a name."""
    page = (
        '<p title="All agents">ロボット</p><p>Agents</p><p lang="en">he wrote this</p>'
        "<code>prsm agents list</code><p>www.example.jp と library</p><p>went away early</p>"
        '<span class="state state-new">new</span>'
    )
    assert left_in(page) == ["All agents", "Agents", "went away early", "new"]
