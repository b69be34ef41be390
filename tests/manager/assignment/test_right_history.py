"""Whether the sender held what it fetched, at the time it says."""

from __future__ import annotations

from manager.assignment.right_history import SLACK_MS, RightHistory, RightPeriod

HOST = "http://www.example.jp:80/"
HOUR = 3_600_000


def crawl(unit: str, since_ms: int, until_ms: int | None, number: int = 1) -> RightPeriod:
    return RightPeriod(unit, since_ms, until_ms, number, "crawl")


def unit_of(
    history: RightHistory, host: str, path: str, since_ms: int, until_ms: int
) -> str | None:
    held = history.of_page(host, path, since_ms, until_ms)
    return None if held is None else held.unit


def test_a_page_of_a_held_unit() -> None:
    """A page inside a unit that was held at some time of the section belongs to it."""
    history = RightHistory([crawl(HOST, 10 * HOUR, 12 * HOUR)])
    assert unit_of(history, HOST, "/a/b?c", 11 * HOUR, 11 * HOUR) == HOST
    assert unit_of(history, HOST, "/", 1 * HOUR, 10 * HOUR) == HOST
    assert unit_of(history, HOST, "/", 12 * HOUR, 20 * HOUR) == HOST
    assert unit_of(history, "http://other:80/", "/", 11 * HOUR, 11 * HOUR) is None


def test_times_may_differ_by_the_slack() -> None:
    """The agent's clock is not the manager's: ten minutes are forgiven, not more."""
    history = RightHistory([crawl(HOST, 10 * HOUR, 12 * HOUR)])
    assert unit_of(history, HOST, "/", 0, 10 * HOUR - SLACK_MS) == HOST
    assert unit_of(history, HOST, "/", 0, 10 * HOUR - SLACK_MS - 1) is None
    assert unit_of(history, HOST, "/", 12 * HOUR + SLACK_MS + 1, 20 * HOUR) is None


def test_a_unit_that_is_still_held() -> None:
    """Without an end the unit is held for ever."""
    assert unit_of(RightHistory([crawl(HOST, 0, None)]), HOST, "/", 10**14, 10**14) == HOST


def test_the_longest_unit_decides() -> None:
    """A page in a directory that is its own unit belongs to that, the rest to the host."""
    history = RightHistory([crawl(HOST, 0, None), crawl(HOST + "~koji/", 0, None)])
    assert unit_of(history, HOST, "/~koji/x", 5, 5) == HOST + "~koji/"
    assert unit_of(history, HOST, "/~koji", 5, 5) == HOST
    only = RightHistory([crawl(HOST + "~koji/", 0, None)])
    assert unit_of(only, HOST, "/~koji/x", 5, 5) == HOST + "~koji/"
    assert unit_of(only, HOST, "/", 5, 5) is None


def test_the_last_of_several_times_decides() -> None:
    """A probe in the morning and a crawl at night are two times; noon is neither."""
    probe = RightPeriod(HOST, 8 * HOUR, 9 * HOUR, 1, "probe")
    night = RightPeriod(HOST, 20 * HOUR, 23 * HOUR, 2, "crawl")
    history = RightHistory([probe, night])
    assert history.of_page(HOST, "/", 8 * HOUR, 8 * HOUR) == probe
    assert history.of_page(HOST, "/", 21 * HOUR, 22 * HOUR) == night
    assert history.of_page(HOST, "/", 8 * HOUR, 22 * HOUR) == night
    assert history.of_page(HOST, "/", 12 * HOUR, 13 * HOUR) is None


def test_a_late_log_is_of_the_holding_that_began_before_it_was_closed() -> None:
    """A probe's log that comes when the unit is held to be crawled says nothing of the crawl.

    Where no holding began before, the clock that closed the log is wrong, and the last one counts.
    """
    probe = RightPeriod(HOST, 10 * HOUR, 12 * HOUR, 1, "probe")
    held = [probe, crawl(HOST, 12 * HOUR, None)]
    for closed_ms, kind in ((9, "crawl"), (11, "probe"), (12, "crawl"), (None, "crawl")):
        history = RightHistory(held, None if closed_ms is None else closed_ms * HOUR)
        of_host = history.of_host(HOST, 0, 13 * HOUR)
        of_page = history.of_page(HOST, "/a", 0, 13 * HOUR)
        assert [of_host[1].kind, of_page.kind] == [kind, kind]  # type: ignore[union-attr]
