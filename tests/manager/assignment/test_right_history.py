"""A log is judged by what its agent held then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.assignment import RightHistory, RuleError, UnitInterval

HOST = "http://www.example.jp:80/"
DIRECTORY = HOST + "big/"
DEEPER = DIRECTORY + "er/"
PAGE = "http://www.example.jp/big/er/page.html"


def test_what_was_held_is_held() -> None:
    """Pages of a unit that was held in the time of the log; of no other host."""
    then = RightHistory([UnitInterval(HOST, 100, 200)], 150, 160)
    assert then.holds("http://www.example.jp/index.html")
    assert then.holds("http://www.example.jp/a?b=/c/")
    assert not then.holds("http://www.example.jp:8080/")
    assert not then.holds("https://www.example.jp/")
    assert not then.holds("http://other.example.jp/")


@pytest.mark.parametrize(
    ("first_ms", "last_ms", "held"),
    [(0, 99, False), (0, 100, True), (200, 300, True), (201, 300, False), (0, 999, True)],
)
def test_touching_is_enough(first_ms: int, last_ms: int, held: bool) -> None:
    """A moment in common is enough, for lines carry no time of their own."""
    then = RightHistory([UnitInterval(HOST, 100, 200)], first_ms, last_ms)
    assert then.holds(HOST) is held
    assert then.units == ([HOST] if held else [])


def test_what_is_still_held_has_no_end() -> None:
    """An open interval reaches to the end of the log."""
    assert RightHistory([UnitInterval(HOST, 100)], 500, 600).holds(HOST)


def test_clocks_may_differ() -> None:
    """The slack widens the log on both sides."""
    assert RightHistory([UnitInterval(HOST, 100, 200)], 230, 300, slack_ms=30).holds(HOST)


def test_a_carved_directory_is_not_the_hosts() -> None:
    """While a directory was a unit of its own it was no part of its host."""
    then = RightHistory([UnitInterval(HOST, 0)], 100, 200, carved=[UnitInterval(DIRECTORY, 50)])
    assert not then.holds(PAGE)
    assert then.holds("http://www.example.jp/small/")
    assert then.units == [HOST]


def test_a_directory_that_was_carved_during_the_log() -> None:
    """For a part of the log the page was the host's: it counts."""
    then = RightHistory([UnitInterval(HOST, 0)], 100, 200, carved=[UnitInterval(DIRECTORY, 150)])
    assert then.holds(PAGE)


def test_a_directory_that_went_back_during_the_log() -> None:
    """Also when the part is in the middle, between two times as a unit of its own."""
    carved = [UnitInterval(DIRECTORY, 0, 120), UnitInterval(DIRECTORY, 140)]
    assert RightHistory([UnitInterval(HOST, 0)], 100, 200, carved=carved).holds(PAGE)
    closed = [UnitInterval(DIRECTORY, 0, 139), UnitInterval(DIRECTORY, 140)]
    assert not RightHistory([UnitInterval(HOST, 0)], 100, 200, carved=closed).holds(PAGE)


def test_who_holds_the_directory_holds_its_pages_only() -> None:
    """The rest of the host is another's."""
    then = RightHistory([UnitInterval(DIRECTORY, 0)], 100, 200, carved=[UnitInterval(DIRECTORY, 0)])
    assert then.holds(PAGE)
    assert not then.holds("http://www.example.jp/small/")


def test_directories_nest() -> None:
    """A directory inside a held directory may be another's."""
    own = [UnitInterval(DIRECTORY, 0)]
    carved = [UnitInterval(DIRECTORY, 0), UnitInterval(DEEPER, 0)]
    then = RightHistory(own, 100, 200, carved=carved)
    assert not then.holds(PAGE)
    assert then.holds("http://www.example.jp/big/page.html")


def test_a_log_that_ends_before_it_begins_is_refused() -> None:
    """Such a log has no time to be judged by."""
    with pytest.raises(RuleError, match="from 200 to 100"):
        RightHistory([], 200, 100)


UNITS = [HOST, DIRECTORY, DEEPER]
moments = st.integers(0, 12)
intervals = st.lists(
    st.builds(
        lambda unit, since, lasts: UnitInterval(unit, since, None if lasts > 9 else since + lasts),
        st.sampled_from(UNITS),
        moments,
        moments,
    ),
    max_size=6,
)


@given(intervals, intervals, moments, moments, st.sampled_from([PAGE, DIRECTORY, HOST]))
def test_it_is_the_definition(
    own: list[UnitInterval], carved: list[UnitInterval], first: int, lasts: int, url: str
) -> None:
    """Compared with looking at every moment: the longest unit that exists then, and is it held."""
    own_or_carved = [*carved, *own]

    def at(moment: int) -> bool:
        def covers(one: UnitInterval) -> bool:
            return one.since_ms <= moment and (one.until_ms is None or moment <= one.until_ms)

        page = url.replace(":80", "").replace("example.jp", "example.jp:80")
        inside = [one.unit for one in own_or_carved if covers(one) and page.startswith(one.unit)]
        longest = max(inside, key=len, default=None)
        return any(covers(one) and one.unit == longest for one in own)

    last = first + lasts
    then = RightHistory(own, first, last, carved=carved)
    assert then.holds(url.replace(":80", "")) == any(at(t) for t in range(first, last + 1))
