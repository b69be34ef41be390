"""The machine's clocks."""

from __future__ import annotations

import time

from agent.adapters.clock import SystemClock


def test_clocks_tell_the_times_that_they_name() -> None:
    """Each clock lies between two readings of its source."""
    clock = SystemClock()
    sources = (
        (clock.monotonic_s, time.monotonic),
        (clock.boottime_s, lambda: time.clock_gettime(time.CLOCK_BOOTTIME)),
        (clock.epoch_ms, lambda: time.time_ns() // 1_000_000),
    )
    for told, source in sources:
        before = source()
        assert before <= told() <= source()
