"""The time at which libcurl wants to be woken, kept with as few timers of the loop as possible.

libcurl asks for no wait with each request, and for a long one when that is sent. The first is no
timer, and a wake-up that is already due earlier is left alone: it finds out then that there is
still time. So consecutive requests need no timer each.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

__all__ = ["Timer"]


class Timer:
    """One wake-up at a time; `act` is called when it is due."""

    def __init__(self, loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
        self._loop = loop
        self._handle_timeout = act
        self._due_s = math.inf  # by the loop's clock
        self._later: asyncio.TimerHandle | None = None
        self._soon: asyncio.Handle | None = None  # in the loop's next round

    def set(self, wait_ms: int) -> None:
        """Wake libcurl in so many milliseconds, -1: not at all (M_TIMERFUNCTION)."""
        if wait_ms < 0:
            self._due_s = math.inf
            return
        self._due_s = self._loop.time() + wait_ms / 1000
        if wait_ms == 0:
            if self._soon is None:
                self._soon = self._loop.call_soon(self._wake_soon)
            return
        if self._later is not None:
            if self._later.when() <= self._due_s:
                return
            self._later.cancel()
        self._later = self._loop.call_at(self._due_s, self._wake)

    def end(self) -> None:
        """Cancel all wake-ups."""
        for handle in (self._later, self._soon):
            if handle is not None:
                handle.cancel()
        self._later = self._soon = None

    def _wake_soon(self) -> None:
        self._soon = None
        if self._due_s <= self._loop.time():  # else it has asked for a later time since
            self._wake_now()

    def _wake(self) -> None:
        self._later = None
        if self._due_s <= self._loop.time():
            self._wake_now()
        elif self._due_s < math.inf:
            self._later = self._loop.call_at(self._due_s, self._wake)

    def _wake_now(self) -> None:
        self._due_s = math.inf  # until libcurl asks again
        self._handle_timeout()
