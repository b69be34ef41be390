"""The manager's time, as its answers tell it: what a log says of itself is judged by that clock.

Between two answers it is carried on by CLOCK_BOOTTIME, so a clock of this machine that is set, by
people or by a wrong time server, changes nothing. Until the first answer it is this machine's own.
"""

from __future__ import annotations

from agent.pipeline.ports import Clock

__all__ = ["ManagerTime"]


class ManagerTime:
    """One for each process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead_ms: int | None = None  # of CLOCK_BOOTTIME

    def note(self, server_time_ms: int, sent_boottime_s: float) -> None:
        """Take the time of an answer that came just now to a request sent at `sent_boottime_s`."""
        # It was written somewhere between: on the average in the middle.
        middle_s = (sent_boottime_s + self._clock.boottime_s()) / 2
        self._ahead_ms = server_time_ms - round(middle_s * 1000)

    def now_ms(self) -> int:
        """Return milliseconds since 1970, as the manager counts them."""
        if self._ahead_ms is None:
            return self._clock.epoch_ms()
        return round(self._clock.boottime_s() * 1000) + self._ahead_ms
