"""Port to the time."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Clock"]


class Clock(Protocol):
    """Time, for code that must also run in fake time."""

    def monotonic_s(self) -> float:
        """Return seconds that never jump; stands still while the machine sleeps."""
        ...

    def boottime_s(self) -> float:
        """Return seconds since boot, sleep included (CLOCK_BOOTTIME): permits count on it."""
        ...

    def epoch_ms(self) -> int:
        """Return the wall clock, milliseconds since 1970."""
        ...
