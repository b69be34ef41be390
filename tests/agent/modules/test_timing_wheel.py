"""The timing wheel gives everything back at its time, whatever the distances and jumps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.modules.timing_wheel import STEP_S, TimingWheel

times = st.one_of(
    st.floats(0, 3, allow_nan=False),
    st.floats(0, 1000, allow_nan=False),
    st.floats(0, 400 * 86400, allow_nan=False),
    st.sampled_from([0.0, 2.56, 655.36, 655.37, 167772.16, 42949672.96, 1e9]),
)


@given(
    start_s=times,
    steps=st.lists(st.tuples(st.lists(times, max_size=4), times), max_size=12),
)
def test_nothing_is_early_and_nothing_late(
    start_s: float, steps: list[tuple[list[float], float]]
) -> None:
    """A thing comes out at the first advance at or after its time, to one step, and once."""
    wheel: TimingWheel[int] = TimingWheel(start_s)
    now_s, number = start_s, 0
    waiting: dict[int, float] = {}
    for waits_s, passes_s in steps:
        for wait_s in waits_s:
            number += 1
            waiting[number] = now_s + wait_s
            wheel.add(number, now_s + wait_s)
        now_s += passes_s
        for thing in wheel.advance(now_s):
            assert waiting.pop(thing) <= now_s + 1e-6 * max(1.0, now_s)
        assert all(due_s > now_s - 2 * STEP_S for due_s in waiting.values())
        assert len(wheel) == len(waiting)


def test_order_of_time() -> None:
    """Things come out in the order of their times, from whichever ring."""
    wheel: TimingWheel[float] = TimingWheel(50.0)
    dues_s = [50.3, 51.0, 52.56, 60.0, 700.0, 705.36, 90000.0, 200000.0]
    for due_s in reversed(dues_s):
        wheel.add(due_s, due_s)
    assert wheel.advance(300000.0) == dues_s


def test_a_long_pause_costs_nothing() -> None:
    """A jump over years with one thing far away visits a few hundred slots, not billions."""
    wheel: TimingWheel[str] = TimingWheel(0.0)
    wheel.add("far", 300 * 86400.0)
    assert wheel.advance(300 * 86400.0 - 1) == []
    assert wheel.advance(300 * 86400.0) == ["far"]
    assert wheel.advance(10**9) == []


def test_what_is_due_comes_with_the_next_advance() -> None:
    """A thing whose time has passed need not wait for the hand to move."""
    wheel: TimingWheel[str] = TimingWheel(10.0)
    wheel.add("past", 3.0)
    assert wheel.advance(10.0) == ["past"]


@given(
    start_s=st.floats(0, 1e6, allow_nan=False),
    waits_s=st.lists(times, min_size=1, max_size=6),
    within_s=st.floats(0.01, 2.0),
)
def test_who_asks_when_the_next_comes_out_misses_nothing(
    start_s: float, waits_s: list[float], within_s: float
) -> None:
    """Nothing comes out before the time that was said; what was said to be far away is."""
    wheel: TimingWheel[int] = TimingWheel(start_s)
    wheel.advance(start_s)
    for number, wait_s in enumerate(waits_s):
        wheel.add(number, start_s + wait_s)
    said_s = wheel.next_s(within_s)
    before_s = min(said_s, start_s + within_s) - 2 * STEP_S
    if before_s > start_s and min(waits_s) > 0:
        assert not wheel.advance(before_s)
    soonest_s = start_s + min(waits_s)
    if soonest_s < start_s + within_s - 2 * STEP_S:
        assert said_s <= soonest_s + 2 * STEP_S
