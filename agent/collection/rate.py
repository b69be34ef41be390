"""Rate limit of sending segments."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable

__all__ = ["Pace", "Rate"]


class Pace:
    """So many bytes a second, evenly: says how long who takes bytes is to wait. For any thread.

    Source: the leaky bucket as a meter (Turner 1986), with room for a quarter of a second.
    """

    def __init__(
        self, bytes_per_s: Callable[[], int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """bytes_per_s: asked each time; 0 is no limit."""
        self._bytes_per_s = bytes_per_s
        self._clock = clock
        self._free_s = clock()
        self._turn = threading.Lock()

    def wait_s(self, size_bytes: int) -> float:
        """Take so many bytes; return how long to wait until they may go."""
        bytes_per_s = self._bytes_per_s()
        if not bytes_per_s:
            return 0.0
        with self._turn:
            now_s = self._clock()
            self._free_s = max(self._free_s, now_s - 0.25) + size_bytes / bytes_per_s
            return max(0.0, self._free_s - now_s)


class Rate:
    """The same limit for callers that wait in an event loop."""

    def __init__(
        self,
        bytes_per_s: int | Callable[[], int],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """bytes_per_s: 0 is no limit; where it may change, a function."""
        limit = bytes_per_s if callable(bytes_per_s) else lambda: bytes_per_s
        self._pace = Pace(limit, clock)
        self._sleep = sleep

    async def take(self, size_bytes: int) -> None:
        """Wait until so many bytes may be sent."""
        wait_s = self._pace.wait_s(size_bytes)
        if wait_s:
            await self._sleep(wait_s)
