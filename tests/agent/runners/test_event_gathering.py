"""Events gather for a moment, and nothing waits for longer than that."""

from __future__ import annotations

import asyncio
import os
import selectors
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from agent.runners.event_gathering import GatheringSelector, new_event_loop


class Clock:
    """Stands still but for sleeps."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.slept: list[float] = []

    def monotonic_s(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@contextmanager
def ready(least_s: float, clock: Clock) -> Iterator[GatheringSelector]:
    """A selector with one end of a pipe that is ready."""
    ours, theirs = os.pipe()
    os.write(theirs, b"x")
    with GatheringSelector(least_s, clock.monotonic_s, clock.sleep) as it:
        it.register(ours, selectors.EVENT_READ)
        yield it
    os.close(ours)
    os.close(theirs)


@pytest.fixture
def selector(clock: Clock) -> Iterator[GatheringSelector]:
    with ready(0.5, clock) as it:
        yield it


def test_it_is_not_woken_twice_within_a_moment(clock: Clock, selector: GatheringSelector) -> None:
    """The first waking is at once, the second when the moment since the first is over."""
    assert len(selector.select()) == 1
    assert clock.slept == []
    clock.now_s += 0.2
    assert len(selector.select(7.0)) == 1
    assert clock.slept == [pytest.approx(0.3)]


def test_what_takes_longer_by_itself_waits_for_nothing(
    clock: Clock, selector: GatheringSelector
) -> None:
    """A busy loop looks again as soon as its turn is over."""
    selector.select()
    clock.now_s += 0.5
    selector.select()
    assert clock.slept == []


def test_neither_callbacks_nor_timers_are_put_off(
    clock: Clock, selector: GatheringSelector
) -> None:
    """Without a timeout it only looks; a timer that is due sooner ends the sleep."""
    selector.select()
    assert len(selector.select(0)) == 1
    assert clock.slept == []
    selector.select(0.1)
    assert clock.slept == [pytest.approx(0.1)]


@pytest.mark.parametrize(
    ("events", "wait_s"), [(0, 0.002), (5, 0.002), (200, 0.004), (10_000, 0.006)]
)
def test_it_waits_longer_for_many(clock: Clock, events: int, wait_s: float) -> None:
    """A tenth of what their answers cost; for few as long as for none, and never for long."""
    with ready(0.002, clock) as selector:
        selector.expect(events)
        for _ in range(2):
            selector.select()
    assert clock.slept == [pytest.approx(wait_s)]


def test_an_event_loop_runs_on_it() -> None:
    """Timers, callbacks and descriptors work as on any loop."""

    async def read() -> bytes:
        ours, theirs = os.pipe()
        loop = asyncio.get_running_loop()
        came = loop.create_future()
        loop.add_reader(ours, lambda: came.set_result(os.read(ours, 10)))
        loop.call_later(0.01, os.write, theirs, b"word")
        try:
            return bytes(await came)
        finally:
            loop.remove_reader(ours)
            os.close(ours)
            os.close(theirs)

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        assert runner.run(read()) == b"word"
