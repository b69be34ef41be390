"""A distance is all the time over all the bytes; what stands beside it flags and never replaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.distance.errors import DistanceError
from manager.distance.measured_distance import Measured, State
from shared.messages import Message

lines = st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**7)), max_size=50)


def measured(given_lines: list[tuple[int, int]], *, complete: bool = False) -> Measured:
    """Sum lines up as the intake does: (bytes, ms) each."""
    slow_bytes, slow_ms = max(given_lines, key=lambda line: line[1], default=(0, 0))
    return Measured(
        lines=len(given_lines),
        failed=sum(not size for size, _ in given_lines),
        size_bytes=sum(size for size, _ in given_lines),
        elapsed_ms=sum(ms for _, ms in given_lines),
        slowest_ms=slow_ms,
        slowest_bytes=slow_bytes,
        complete=complete,
    )


def test_formula_4() -> None:
    """The sum of the times over the sum of the KBytes, a KByte being 1,000 bytes."""
    found = measured([(2000, 100), (3000, 150), (5000, 250)])
    assert found.ms_per_kb == 50
    assert found.state is State.MEASURED


def test_large_pages_weigh_more() -> None:
    """It is a ratio of sums, not a mean of ratios."""
    assert measured([(1000, 1000), (99_000, 1000)]).ms_per_kb == 20


def test_failed_requests_cost_time() -> None:
    """A request that brought nothing counts with its time."""
    found = measured([(10_000, 100), (0, 2700), (10_000, 100), (10_000, 100)])
    assert found.ms_per_kb == 100
    assert found.reasons[0] == Message(
        "distance.measured_with_failures", size=30_000, elapsed_ms=3000, lines=4, failed=1
    )


def test_all_failed_is_unreachable() -> None:
    """Where no byte came back there is no number, and it says so."""
    found = measured([(0, 30_000), (0, 30_000)])
    assert found.ms_per_kb is None
    assert found.state is State.UNREACHABLE
    assert found.reasons == (Message("distance.none_answered", lines=2),)
    assert measured([]).reasons == (Message("distance.no_answer"),)


@pytest.mark.parametrize("given_lines", [[(9000, 10)] * 2, [(20, 100)] * 50, [(9000, 9), (0, 1)]])
def test_little_evidence_is_called_weak(given_lines: list[tuple[int, int]]) -> None:
    """Two lines, fifty redirects of 20 bytes, one answer among failures."""
    found = measured(given_lines)
    assert found.state is State.WEAK
    assert Message("distance.too_little") in found.reasons
    assert measured(given_lines, complete=True).state is State.MEASURED


def test_one_line_that_decides_is_flagged_and_kept() -> None:
    """A single stalled page makes the distance thirty times longer: flagged, not averaged away."""
    found = measured([(10_000, 100)] * 19 + [(10_000, 60_000)])
    assert found.ms_per_kb == pytest.approx(309.5)
    assert found.one_line_decides
    assert found.without_slowest == 10
    assert str(found.reasons[-1]) == (
        "one request took 60,000 ms; without it the distance is 10 ms per KB"
    )


def test_a_slow_line_that_changes_little_is_no_flag() -> None:
    """The slowest of alike lines decides nothing."""
    found = measured([(10_000, 100)] * 19 + [(10_000, 190)])
    assert not found.one_line_decides
    assert not measured([(10_000, 100)]).one_line_decides


@given(lines)
def test_whatever_the_lines_the_distance_is_the_ratio(given_lines: list[tuple[int, int]]) -> None:
    """Never negative, always time over bytes, always with words."""
    found = measured(given_lines)
    size = sum(size for size, _ in given_lines)
    ms = sum(ms for _, ms in given_lines)
    assert found.ms_per_kb == (ms * 1000 / size if size else None)
    assert (found.state is State.UNREACHABLE) == (size == 0)
    assert found.reasons


def test_impossible_sums_are_refused() -> None:
    """Nothing negative is a measurement."""
    with pytest.raises(DistanceError):
        Measured(lines=1, failed=0, size_bytes=-1, elapsed_ms=0)
