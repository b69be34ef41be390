"""Garbage collection while no request waits, not when a counter says so.

Almost nothing of the crawl is in a cycle, so what is let go of is free at once. But Python's
collector walks through everything that is alive, and with a million hosts that takes two seconds
in which no connection is served. So the oldest generation is not collected by count: it is
collected when nothing is under way, and after hours of work without a rest all the same. What is
alive then is not walked through again.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Final

__all__ = ["Garbage"]

YOUNG: Final = (10_000, 10)
"""Objects until the youngest generation is collected, and how many of these until the next one:
100,000 objects at most, some milliseconds."""

NEVER: Final = 1_000_000_000

RESTED_S: Final = 60.0
"""Seconds between two collections at rest: a rest of a moment is not for this."""

LONGEST_S: Final = 6 * 3600.0
"""Seconds after which it is done in the midst of work: memory must not grow for ever."""


class Garbage:
    """Takes the collector over while a crawl runs, and gives it back."""

    def __init__(self) -> None:
        self._before: tuple[int, int, int] | None = None
        self._collected_s = 0.0

    def begin(self, now_s: float) -> None:
        """Take it over; what is alive now was made at the start and stays, garbage or not."""
        self._before = gc.get_threshold()
        gc.set_threshold(*YOUNG, NEVER)
        self._collected_s = now_s
        gc.freeze()

    def look(self, now_s: float, at_rest: Callable[[], bool]) -> None:
        """Collect where it is time; at_rest: tells whether nothing is under way."""
        since_s = now_s - self._collected_s
        if since_s >= RESTED_S and (since_s >= LONGEST_S or at_rest()):
            self._collect(now_s)

    def end(self) -> None:
        """Restore the collector's earlier settings."""
        if self._before is not None:
            gc.set_threshold(*self._before)
            gc.unfreeze()
            self._before = None

    def _collect(self, now_s: float) -> None:
        self._collected_s = now_s
        gc.collect()
        gc.freeze()
