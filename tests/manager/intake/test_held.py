"""Whether the sender held what it fetched, at the time it says."""

from __future__ import annotations

from manager.intake.held import SLACK_MS, Held, Holdings

HOST = "http://www.example.jp:80/"
HOUR = 3_600_000


def test_a_page_of_a_held_unit() -> None:
    """A page inside a unit that was held at some time of the section belongs to it."""
    holdings = Holdings([Held(HOST, 10 * HOUR, 12 * HOUR)])
    assert holdings.unit_of(HOST, "/a/b?c", 11 * HOUR, 11 * HOUR) == HOST
    assert holdings.unit_of(HOST, "/", 1 * HOUR, 10 * HOUR) == HOST
    assert holdings.unit_of(HOST, "/", 12 * HOUR, 20 * HOUR) == HOST
    assert holdings.unit_of("http://other:80/", "/", 11 * HOUR, 11 * HOUR) is None


def test_times_may_differ_by_the_slack() -> None:
    """The agent's clock is not the manager's: ten minutes are forgiven, not more."""
    holdings = Holdings([Held(HOST, 10 * HOUR, 12 * HOUR)])
    assert holdings.unit_of(HOST, "/", 0, 10 * HOUR - SLACK_MS) == HOST
    assert holdings.unit_of(HOST, "/", 0, 10 * HOUR - SLACK_MS - 1) is None
    assert holdings.unit_of(HOST, "/", 12 * HOUR + SLACK_MS + 1, 20 * HOUR) is None


def test_a_unit_that_is_still_held() -> None:
    """Without an end the unit is held for ever."""
    assert Holdings([Held(HOST, 0, None)]).unit_of(HOST, "/", 10**14, 10**14) == HOST


def test_the_longest_unit_decides() -> None:
    """A page in a directory that is its own unit belongs to that, the rest to the host."""
    holdings = Holdings([Held(HOST, 0, None), Held(HOST + "~koji/", 0, None)])
    assert holdings.unit_of(HOST, "/~koji/x", 5, 5) == HOST + "~koji/"
    assert holdings.unit_of(HOST, "/~koji", 5, 5) == HOST
    only = Holdings([Held(HOST + "~koji/", 0, None)])
    assert only.unit_of(HOST, "/~koji/x", 5, 5) == HOST + "~koji/"
    assert only.unit_of(HOST, "/", 5, 5) is None


def test_a_unit_held_twice() -> None:
    """A probe in the morning and a crawl at night are two times; noon is neither."""
    holdings = Holdings([Held(HOST, 8 * HOUR, 9 * HOUR), Held(HOST, 20 * HOUR, 23 * HOUR)])
    assert holdings.unit_of(HOST, "/", 8 * HOUR, 8 * HOUR) == HOST
    assert holdings.unit_of(HOST, "/", 21 * HOUR, 22 * HOUR) == HOST
    assert holdings.unit_of(HOST, "/", 12 * HOUR, 13 * HOUR) is None
