"""Times of doubted claims: by the manager's clock, or exactly where it bears out a power of ten."""

from __future__ import annotations

import pytest

from manager.db.measurement.measurements import DistanceRow
from manager.distance.doubts import Doubt, Evidence, Fault
from manager.operations.measurement.claims import Period, put_right

SIZE_BYTES = 1_000_000


def counted(claimed_ms: int, clock_ms: int | None, factor: float, fault: Fault) -> float:
    """Return the milliseconds that count of a claim of a megabyte."""
    row = DistanceRow(
        unit_id=1,
        agent_id=1,
        since_ms=None,
        measured_ms=0,
        round=1,
        kind="crawl",
        lines=20,
        failed=0,
        bytes=SIZE_BYTES,
        ms=claimed_ms,
        slowest_ms=0,
        slowest_bytes=0,
        ms_per_kb=claimed_ms * 1000 / SIZE_BYTES,
        first_quartile=None,
        median=None,
        third_quartile=None,
        unreachable_since_ms=None,
    )
    period = Period(2, None, (Doubt(fault, factor, 60, Evidence.CLOCK),))
    right = put_right(row, float(SIZE_BYTES), clock_ms, period, None)
    assert right.ms_per_kb is not None
    return right.ms_per_kb * SIZE_BYTES / 1000


@pytest.mark.parametrize(("claimed_ms", "factor"), [(600_000, 9.3), (6_000, 0.09), (600, 0.0098)])
def test_a_power_of_ten_that_the_clock_bears_out_is_exact(claimed_ms: int, factor: float) -> None:
    """The clock counts some seconds of waiting, too."""
    assert counted(claimed_ms, 66_000, factor, Fault.TIMES) == pytest.approx(60_000)


@pytest.mark.parametrize("claimed_ms", [500_000, 900_000, 60_000, 0])
def test_a_unit_that_the_clock_does_not_bear_out_counts_by_it(claimed_ms: int) -> None:
    """Who lies by a power of ten may have lied in another way of some units."""
    assert counted(claimed_ms, 66_000, 9.3, Fault.TIMES) == pytest.approx(66_000)


@pytest.mark.parametrize("factor", [3.0, 0.3, 5.0])
def test_another_factor_counts_by_the_clock(factor: float) -> None:
    """It is known only as well as the clock knows it."""
    claimed_ms = round(60_000 * factor)
    assert counted(claimed_ms, 66_000, factor, Fault.TIMES) == pytest.approx(66_000)


def test_scattered_times_count_by_the_clock() -> None:
    """No factor holds for them all."""
    assert counted(60_000, 66_000, 1.0, Fault.SCATTERED_TIMES) == pytest.approx(66_000)
