"""A distance is all the time over all the bytes; robust figures flag and never replace it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.distance import DistanceError, Evidence, State, estimate, estimate_hosts

sizes = st.integers(0, 10**9)
times = st.integers(0, 10**7)
lines = st.lists(st.tuples(sizes, times), max_size=50)


def test_formula_4() -> None:
    """The sum of the times over the sum of the KBytes, a KByte being 1,000 bytes."""
    found = estimate([2000, 3000, 5000], [100, 150, 250])
    assert found.ms_per_kb == 50
    assert found.state is State.MEASURED
    assert (found.lines, found.failed, found.size_bytes, found.elapsed_ms) == (3, 0, 10_000, 500)


def test_large_pages_weigh_more() -> None:
    """It is a ratio of sums, not a mean of ratios."""
    found = estimate([1000, 99_000], [1000, 1000])
    assert found.ms_per_kb == 20
    assert found.median_ms_per_kb == pytest.approx((1000 + 1000 / 99) / 2)


def test_failed_requests_cost_time() -> None:
    """A request that brought nothing counts with its time."""
    found = estimate([10_000, 0, 10_000, 10_000], [100, 2700, 100, 100])
    assert found.ms_per_kb == 100
    assert found.failed == 1
    assert "1 of them failed" in found.reason


def test_all_failed_is_unreachable() -> None:
    """Where no byte came back the distance is infinite, and says so."""
    found = estimate([0, 0], [30_000, 30_000])
    assert found.ms_per_kb == math.inf
    assert found.state is State.UNREACHABLE
    assert found.usable_ms_per_kb == math.inf
    assert found.reason == "all 2 requests failed"


def test_no_line_is_unmeasured() -> None:
    """Without a line nothing is known."""
    found = estimate([], [])
    assert math.isnan(found.ms_per_kb)
    assert found.state is State.UNMEASURED
    assert "nobody has tried" in found.reason


def test_too_little_evidence_is_not_used() -> None:
    """Two lines show something, and the matrix does not take it."""
    found = estimate([9000, 9000], [10, 10])
    assert found.state is State.WEAK
    assert found.ms_per_kb == pytest.approx(10 / 9)
    assert math.isnan(found.usable_ms_per_kb)
    assert "too little" in found.reason


def test_failed_lines_are_no_evidence() -> None:
    """A hundred failures and one answer are one line of evidence."""
    assert estimate([0] * 100 + [9000], [10] * 101).state is State.WEAK


def test_few_bytes_are_no_evidence() -> None:
    """Fifty redirects of 20 bytes measure latency, not distance."""
    assert estimate([20] * 50, [100] * 50).state is State.WEAK


def test_a_whole_host_needs_no_minimum() -> None:
    """A host with one page was measured when that page was fetched."""
    found = estimate([700], [70], complete=True)
    assert found.state is State.MEASURED
    assert found.usable_ms_per_kb == 100


def test_the_minimum_can_be_chosen() -> None:
    """The caller says what is enough, within reason."""
    assert estimate([10], [1], evidence=Evidence(1, 10)).state is State.MEASURED
    with pytest.raises(DistanceError, match="min_lines = 0"):
        Evidence(min_lines=0)


def test_one_line_that_decides_is_flagged_and_kept() -> None:
    """A single stalled page makes the distance thirty times longer: flagged, not averaged away."""
    found = estimate([10_000] * 20, [100] * 19 + [60_000])
    assert found.ms_per_kb == pytest.approx(309.5)
    assert found.outlier
    assert found.suspect_lines == 1
    assert found.without_suspects_ms_per_kb == 10
    assert "1 of them far from the others" in found.reason


def test_an_outlier_that_changes_little_is_no_flag() -> None:
    """A tiny page with a poor ratio is suspect but decides nothing."""
    found = estimate([100_000] * 20 + [100], [1000] * 20 + [100])
    assert found.suspect_lines == 1
    assert not found.outlier


def test_equal_lines_are_never_suspect() -> None:
    """Without spread a line 20% off is no outlier."""
    found = estimate([10_000] * 20 + [10_000], [100] * 20 + [120])
    assert found.suspect_lines == 0


def test_the_spread_is_median_and_mad() -> None:
    """Over the lines that brought bytes, in ms per KByte."""
    found = estimate([1000, 1000, 1000, 1000, 0], [1, 2, 3, 10, 99])
    assert found.median_ms_per_kb == 2.5
    assert found.mad_ms_per_kb == 1.0


@given(lines)
def test_whatever_the_lines_the_distance_is_the_ratio(given_lines: list[tuple[int, int]]) -> None:
    """Never negative, never a warning, always time over bytes."""
    size = [one for one, _ in given_lines]
    time = [one for _, one in given_lines]
    found = estimate(size, time)
    if sum(size):
        assert found.ms_per_kb == sum(time) * 1000 / sum(size)
        assert found.mad_ms_per_kb >= 0
        assert found.reason
    else:
        assert found.state is (State.UNREACHABLE if given_lines else State.UNMEASURED)


@given(st.lists(st.tuples(st.integers(-5, 5), sizes, times), max_size=40))
def test_a_log_is_its_hosts(given_lines: list[tuple[int, int, int]]) -> None:
    """Estimating a whole log equals estimating each host's lines alone, in any order."""
    host = [one for one, _, _ in given_lines]
    size = [one for _, one, _ in given_lines]
    time = [one for _, _, one in given_lines]
    found = estimate_hosts(host, size, time)
    assert list(found) == sorted(set(host))
    for one, whole in found.items():
        alone = estimate(
            [s for h, s, _ in given_lines if h == one], [t for h, _, t in given_lines if h == one]
        )
        # repr, because nan is not equal to itself
        assert repr(alone) == repr(whole)


@pytest.mark.parametrize(
    ("size", "time"),
    [([-1], [1]), ([1], [-1]), ([1, 2], [1]), ([[1]], [[1]]), ([10**13], [1]), ([1], [2**70])],
)
def test_impossible_lines_are_refused(size: list[int], time: list[int]) -> None:
    """What no request can have measured is refused, not summed."""
    with pytest.raises(DistanceError):
        estimate(size, time)


def test_hosts_and_lines_must_match() -> None:
    """One host number for each line."""
    with pytest.raises(DistanceError, match="2 hosts for 1 lines"):
        estimate_hosts([1, 2], [10], [10])


def test_numbers_of_numpy_are_taken() -> None:
    """Columns of a table go in as they are."""
    found = estimate(np.array([5000], dtype=np.uint32), np.array([5], dtype=np.int32))
    assert found.ms_per_kb == 1
