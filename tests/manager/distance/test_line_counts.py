"""Numbers of lines that an agent logs are doubted where they are far from what others logged."""

from __future__ import annotations

import math

import pytest

from manager.distance.doubts import Doubt, Evidence, Fault
from manager.distance.line_counts import LineRange, change_of_lines, find_line_doubt

PROBES = {unit: LineRange(20, 20, Evidence.OTHERS) for unit in range(10)}
LEAST = {unit: LineRange(20, math.inf, Evidence.OTHERS) for unit in range(10)}
BEFORE = {unit: LineRange(60, 60, Evidence.HISTORY) for unit in range(10)}
TOO_MANY = Doubt(Fault.LINES, 10.0, 60, Evidence.OTHERS)


def lines(count: int, *, of: int = 10, rest: int = 20) -> dict[int, int]:
    """Return numbers of lines: of some units one number, of the others another."""
    return {unit: count if unit < of else rest for unit in range(10)}


@pytest.mark.parametrize(("count", "factor"), [(2, 0.1), (200, 10.0)])
def test_lines_left_out_or_repeated_are_doubted(count: int, factor: float) -> None:
    """All units are wrong by one factor."""
    found = find_line_doubt(lines(count), PROBES)
    assert found is not None
    assert (found.fault, found.evidence) == (Fault.LINES, Evidence.OTHERS)
    assert found.factor == pytest.approx(factor)


@pytest.mark.parametrize("count", [2, 200])
def test_lines_of_half_of_the_units_are_doubted_as_scattered(count: int) -> None:
    """No factor holds for all."""
    found = find_line_doubt(lines(count, of=5), PROBES)
    assert found is not None
    assert (found.fault, found.factor) == (Fault.SCATTERED_LINES, 1.0)


@pytest.mark.parametrize(
    "own",
    [lines(20), lines(12), lines(2, of=2), lines(55)],
    ids=["as many", "fewer", "two", "more"],
)
def test_pages_that_fail_or_differ_are_no_fault(own: dict[int, int]) -> None:
    """Neither a few units nor a small change begins a doubt."""
    assert find_line_doubt(own, PROBES) is None


def test_a_crawl_may_have_more_lines_than_a_probe_but_not_fewer() -> None:
    """A probe ends at its limit."""
    assert find_line_doubt(lines(5_000), LEAST) is None
    assert find_line_doubt(lines(3), LEAST) is not None


def test_what_the_others_crawls_have_done_as_well_is_no_fault() -> None:
    """A limit of pages that is raised changes all crawls."""
    found = find_line_doubt(lines(600), BEFORE)
    assert found is not None
    assert found.evidence is Evidence.HISTORY
    assert find_line_doubt(lines(600), BEFORE, usual=(0.0, math.log(8))) is None


def test_a_crawl_whose_most_is_not_known_does_not_end_a_doubt_of_too_many() -> None:
    """Two-sided bounds do."""
    assert find_line_doubt(lines(500), LEAST, [TOO_MANY]) == TOO_MANY
    assert find_line_doubt(lines(20), PROBES, [TOO_MANY]) is None
    few = {unit: PROBES[unit] for unit in range(2)}
    assert find_line_doubt(lines(20), few, [TOO_MANY]) == TOO_MANY


def test_too_few_units_say_nothing() -> None:
    """Three of them may be chance."""
    few = {unit: PROBES[unit] for unit in range(3)}
    assert find_line_doubt(lines(2), few) is None
    assert change_of_lines({1: 10}, {1: 20}) is None


def test_the_change_of_most_units_is_the_change() -> None:
    """As a natural logarithm."""
    change = change_of_lines(lines(40), lines(20))
    assert change == pytest.approx(math.log(2))
