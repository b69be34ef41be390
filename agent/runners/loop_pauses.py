"""Pauses of the event loop: the longest time in which no request could proceed.

Whatever blocks the loop counts, ours or a library's: a beat that comes late tells of it, to within
`BEAT_S`. The loop's own turns and commits are measured exactly. Where nothing is under way there is
nothing to hold up, and beats are rare.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

__all__ = ["Pauses"]

BEAT_S: Final = 0.05
STILL_BEAT_S: Final = 1.0


class Pauses:
    """The worst since the process started; seconds."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._monotonic_s = monotonic_s
        self._timer: asyncio.TimerHandle | None = None
        self._due_s = 0.0
        self.worst_s = 0.0
        self.worst_commit_s = 0.0

    def note(self, since_s: float) -> None:
        """Take in that the loop was busy since a moment."""
        self.worst_s = max(self.worst_s, self._monotonic_s() - since_s)

    def note_commit(self, since_s: float) -> None:
        """Take in that a commit has ended, for which the loop was busy, too."""
        self.worst_commit_s = max(self.worst_commit_s, self._monotonic_s() - since_s)
        self.note(since_s)

    def watch(self, busy: Callable[[], bool] = lambda: True) -> None:
        """Beat, on the running loop, until `stop`; busy: whether anything is under way."""
        loop = asyncio.get_running_loop()

        def beat() -> None:
            self.note(self._due_s)
            schedule()

        def schedule() -> None:
            """Set the timer of the next beat."""
            beat_s = BEAT_S if busy() else STILL_BEAT_S
            self._due_s = self._monotonic_s() + beat_s
            self._timer = loop.call_later(beat_s, beat)

        schedule()

    def stop(self) -> None:
        """Beat no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
