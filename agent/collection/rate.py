"""How fast segments are sent, and in which hours."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from agent.control.zone import zone_named
from agent.settings import Settings, window_minutes
from shared.windows import Windows

__all__ = ["Rate", "hours_of"]


class Rate:
    """So many bytes a second, evenly: who takes bytes waits until they may go.

    Source: the leaky bucket as a meter (Turner 1986), with room for a quarter of a second.
    """

    def __init__(
        self,
        bytes_per_s: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """bytes_per_s: 0 is no limit."""
        self._bytes_per_s = bytes_per_s
        self._clock = clock
        self._sleep = sleep
        self._free_s = clock()

    async def take(self, size_bytes: int) -> None:
        """Wait until so many bytes may be sent."""
        if not self._bytes_per_s:
            return
        now_s = self._clock()
        self._free_s = max(self._free_s, now_s - 0.25) + size_bytes / self._bytes_per_s
        if self._free_s > now_s:
            await self._sleep(self._free_s - now_s)


def hours_of(settings: Settings) -> Windows:
    """Return the hours in which segments may be sent."""
    site = settings.collection
    return Windows(
        zone_named(settings.windows.zone),
        tuple(window_minutes(text) for text in site.weekday),
        tuple(window_minutes(text) for text in site.weekend),
    )
