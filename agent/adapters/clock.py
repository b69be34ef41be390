"""The machine's clocks."""

from __future__ import annotations

import time

__all__ = ["SystemClock"]


class SystemClock:
    """Time as the machine tells it. Fulfils `agent.pipeline.ports.Clock`."""

    monotonic_s = staticmethod(time.monotonic)
    """Return seconds that never jump; they stand still while the machine sleeps."""

    def boottime_s(self) -> float:
        """Return seconds since boot, sleep included."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def epoch_ms(self) -> int:
        """Return the wall clock, milliseconds since 1970."""
        return time.time_ns() // 1_000_000
