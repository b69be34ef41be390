"""The wall clock, for times that must outlive the process: no other one runs while it is dead.

It may be set wrongly, so whoever reads a time of it bounds how far away that may be.
"""

from __future__ import annotations

from agent.pipeline.messages.turns import Tick

__all__ = ["WallClock"]


class WallClock:
    """Turns times of the monotonic clock into times of the wall clock, and back."""

    def __init__(self) -> None:
        """Know nothing, until the first tick."""
        self.known = False
        self._ahead_s = 0.0  # of the monotonic one

    def tell(self, tick: Tick) -> None:
        """Learn what the two clocks say."""
        self.known = True
        self._ahead_s = tick.epoch_ms / 1000 - tick.now_s

    def epoch_ms(self, at_s: float) -> int:
        """Return a time of the monotonic clock as milliseconds since 1970."""
        return round((at_s + self._ahead_s) * 1000)

    def at_s(self, epoch_ms: int) -> float:
        """Return a time of the wall clock as the monotonic one will show it, if it is not set."""
        return epoch_ms / 1000 - self._ahead_s
