"""Work by hand: slots, waiting, the longest address, hours, limits."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.arrays import NO_OWNER, FloatArray
from manager.balancing.balancers import Options, make_plan
from manager.balancing.problem import Problem
from manager.balancing.work_duration import (
    DEFAULT_CAPACITY,
    Capacity,
    agent_work_ms,
    elapsed_ms,
    relative_capacity,
    scale_costs,
    unit_work_ms,
)
from shared.windows import Windows

HOUR_MS = 3_600_000
NIGHT = ((2 * 60, 8 * 60),)
TOKYO = ZoneInfo("Asia/Tokyo")
NIGHTS = Capacity(hours=Windows(TOKYO, NIGHT, NIGHT))


def array(*values: float) -> FloatArray:
    return np.array(values, dtype=np.float64)


def test_waiting_dominates() -> None:
    """The design's host: 220,000 URLs at one per 20 s are 1,222 hours, whoever owns it."""
    (work,) = unit_work_ms(array(20 * HOUR_MS), array(220_000), DEFAULT_CAPACITY)
    assert work == pytest.approx((1222.2 + 20) * HOUR_MS, rel=1e-3)
    in_tens = unit_work_ms(array(0), array(95), Capacity(burst=10, interval_ms=1000))
    assert in_tens.tolist() == [10_000]
    unlimited = unit_work_ms(array(7), array(95), Capacity(burst=0))
    assert unlimited.tolist() == [7]


def test_an_agent_ends_with_its_longest_address_or_its_fair_sum() -> None:
    """Two slots: 3 + 3 + 2 take 4; 9 + 1 take 9; hosts on one address are fetched in turn."""
    two = Capacity(slots=2)
    assert agent_work_ms(array(3, 3, 2), np.arange(3), two) == 4
    assert agent_work_ms(array(9, 1), np.arange(2), two) == 9
    assert agent_work_ms(array(3, 3, 2), np.array([5, 5, 7]), two) == 6
    assert agent_work_ms(array(), np.arange(0), two) == 0


def test_a_machine_that_is_busy_half_the_time_takes_twice_as_long() -> None:
    """And counts for half of one that is calm."""
    busy = Capacity(slots=2, calm=0.5)
    assert agent_work_ms(array(3, 3, 2), np.arange(3), busy) == 8
    assert busy.strength == Capacity(slots=2).strength / 2
    relative = relative_capacity((Capacity(slots=2), busy), np.ones((2, 3)), array(1, 1, 1))
    assert relative.tolist() == [1.0, 0.5]


def test_a_limit_of_bytes_bounds_the_work() -> None:
    """1 GB at 1 MB/s takes 1,000 s, however many slots there are."""
    limited = Capacity(bytes_per_s=1_000_000)
    assert agent_work_ms(array(5, 5), np.arange(2), limited, volume_kb=1e6) == 1_000_000


def test_six_hours_a_night_are_a_quarter_of_the_capacity() -> None:
    """By slots, by hours, and by both."""
    few = Capacity(slots=100, hours=NIGHTS.hours)
    costs, volume = np.ones((3, 4)), np.ones(4)
    relative = relative_capacity([DEFAULT_CAPACITY, NIGHTS, few], costs, volume)
    assert relative.tolist() == [1, 0.25, 0.125]
    scale_costs(costs, relative)
    assert costs[:, 0].tolist() == [1, 4, 8]
    assert relative_capacity([NIGHTS, NIGHTS], costs[:2], volume).tolist() == [1, 1]


def test_limits_of_network_and_disk_take_capacity() -> None:
    """Half of what the slots could fetch; a disk that takes half of the even share."""
    costs = np.full((2, 4), 200.0)  # 200 slots at 200 ms: 1 unit a ms
    volume = np.full(4, 1000.0)  # ... that is 1,000 KB a ms, 1 GB/s
    half = Capacity(bytes_per_s=500 * 10**6)
    assert relative_capacity([DEFAULT_CAPACITY, half], costs, volume).tolist() == [1, 0.5]
    small = Capacity(room_kb=1000)
    assert relative_capacity([DEFAULT_CAPACITY, small], costs, volume).tolist() == [1, 0.5]
    full = Capacity(room_kb=0)
    assert relative_capacity([DEFAULT_CAPACITY, full], costs, volume)[1] == pytest.approx(1e-3)
    closed = Capacity(hours=Windows(UTC, (), ()))
    assert relative_capacity([closed, full], costs, volume).tolist() == [1, 1]


def test_work_by_the_clock_on_the_wall() -> None:
    """Seven hours of work from noon, six a night: they end in the second night."""
    start = datetime(2026, 11, 16, 12, tzinfo=TOKYO)
    took = elapsed_ms(7 * HOUR_MS, NIGHTS, round(start.timestamp() * 1000))
    assert took == (14 + 24 + 1) * HOUR_MS
    assert elapsed_ms(7 * HOUR_MS, DEFAULT_CAPACITY, 0) == 7 * HOUR_MS
    assert elapsed_ms(1, Capacity(hours=Windows(UTC, (), ())), 0) is None
    assert elapsed_ms(1e30, DEFAULT_CAPACITY, 0) is None


def test_a_plan_gives_by_capacity() -> None:
    """Four fifths to whom the whole day belongs, one fifth to six hours a night."""
    costs = np.ones((2, 100))
    relative = relative_capacity([DEFAULT_CAPACITY, NIGHTS], costs, np.ones(100))
    scale_costs(costs, relative)
    problem = Problem(("day", "night"), costs, np.full(100, NO_OWNER, dtype=np.intp))
    plan = make_plan("prices", problem, Options())
    assert plan.units_after.tolist() == [80, 20]


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=12),
    st.lists(st.integers(0, 4), min_size=12, max_size=12),
    st.integers(1, 6),
)
def test_no_schedule_is_shorter(work: list[float], atoms: list[int], slots: int) -> None:
    """Longest first over the slots ends no sooner than reckoned, and within twice that."""
    atom = np.array(atoms[: len(work)])
    agent = Capacity(slots=slots)
    reckoned = agent_work_ms(array(*work), atom, agent)
    addresses: dict[int, float] = {}
    for one, length in zip(atom.tolist(), work, strict=True):
        addresses[one] = addresses.get(one, 0.0) + length
    ends = [0.0] * slots
    for length in sorted(addresses.values(), reverse=True):
        ends[ends.index(min(ends))] += length
    assert reckoned <= max(ends) * (1 + 1e-9)
    assert max(ends) <= reckoned * 2
    more = agent_work_ms(array(*work), atom, Capacity(slots=slots + 1))
    assert more <= reckoned
