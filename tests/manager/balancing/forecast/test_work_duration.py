"""Capacity by hand: connections, hours, limits, the clock on the wall."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.balancing.arrays import NO_OWNER, FloatArray
from manager.balancing.balancers import Options, make_plan
from manager.balancing.forecast.work_duration import (
    DEFAULT_CAPACITY,
    Availability,
    Capacity,
    relative_capacity,
    scale_costs,
)
from manager.balancing.problem import Problem
from shared.windows import Windows

HOUR_MS = 3_600_000
NIGHT = ((2 * 60, 8 * 60),)
TOKYO = ZoneInfo("Asia/Tokyo")
NIGHTS = Capacity(hours=Windows(TOKYO, NIGHT, NIGHT))


def array(*values: float) -> FloatArray:
    return np.array(values, dtype=np.float64)


def test_a_machine_that_is_busy_half_the_time_takes_twice_as_long() -> None:
    """And counts for half of one that is calm."""
    busy = Capacity(connections=2, calm=0.5)
    assert Availability(busy, 0).end_of(array(4)).tolist() == [8]
    assert busy.strength == Capacity(connections=2).strength / 2
    relative = relative_capacity((Capacity(connections=2), busy), np.ones((2, 3)), array(1, 1, 1))
    assert relative.tolist() == [1.0, 0.5]


def test_six_hours_a_night_are_a_quarter_of_the_capacity() -> None:
    """By slots, by hours, and by both."""
    few = Capacity(connections=100, hours=NIGHTS.hours)
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
    nights = Availability(NIGHTS, round(start.timestamp() * 1000))
    assert nights.end_of(array(0, 6 * HOUR_MS, 7 * HOUR_MS)).tolist() == [
        0,
        20 * HOUR_MS,
        (14 + 24 + 1) * HOUR_MS,
    ]
    assert nights.work_at(array(20 * HOUR_MS, 30 * HOUR_MS)).tolist() == [6 * HOUR_MS] * 2
    assert Availability(DEFAULT_CAPACITY, 0).end_of(array(7 * HOUR_MS)).tolist() == [7 * HOUR_MS]
    closed = Availability(Capacity(hours=Windows(UTC, (), ())), 0)
    assert closed.end_of(array(0, 1)).tolist() == [0, np.inf]


@given(st.floats(1, 1e9), st.sampled_from(["Asia/Tokyo", "America/New_York", "UTC"]))
def test_the_end_of_work_is_when_so_much_is_done(work: float, zone: str) -> None:
    """The one is the other's reverse, also beyond the hours that are known one by one."""
    agent = Capacity(hours=Windows(ZoneInfo(zone), NIGHT, ((0, 300), (600, 900))), calm=0.7)
    hours = Availability(agent, 1_790_000_000_000)
    end = hours.end_of(array(work))
    assert end[0] >= work / 0.7
    assert hours.work_at(end)[0] == pytest.approx(work, rel=1e-6)
    assert hours.work_at(end - 1)[0] < work


def test_a_plan_gives_by_capacity() -> None:
    """Four fifths to whom the whole day belongs, one fifth to six hours a night."""
    costs = np.ones((2, 100))
    relative = relative_capacity([DEFAULT_CAPACITY, NIGHTS], costs, np.ones(100))
    scale_costs(costs, relative)
    problem = Problem(("day", "night"), costs, np.full(100, NO_OWNER, dtype=np.intp))
    plan = make_plan("prices", problem, Options())
    assert plan.units_after.tolist() == [80, 20]
