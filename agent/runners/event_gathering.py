"""An event loop that lets events gather for a moment before it looks at them.

What happens to a page wakes the loop several times: an answer's first bytes, the rest of it, the
worker's results. Each waking costs system calls, a turn of all modules and a look at the time,
whatever it brings. So the loop is not woken again before `GATHER_S` are over since it was last;
events that came meanwhile are taken together. A turn that takes longer than that waits for nothing.

Where hundreds of requests are under way it waits longer, `EACH_S` for each of them: a tenth of
what their answers are going to cost this process. Larger bunches go through the modules with fewer
steps each, and the server and the page workers have the processors meanwhile.

Invariant: what is ready inside the process is never put off, and nothing is put off for longer
than `MOST_S`: an address rests for seconds.
Source: docs/adr/0078.
"""

from __future__ import annotations

import asyncio
import math
import selectors
import time
from collections.abc import Callable
from typing import Final

__all__ = ["GATHER_S", "GatheringLoop", "GatheringSelector", "new_event_loop"]

GATHER_S: Final = 0.002
EACH_S: Final = 20e-6
MOST_S: Final = 0.006


class GatheringSelector(selectors.EpollSelector):
    """Waits as its base does, but not twice within `gather_s`."""

    def __init__(
        self,
        gather_s: float = GATHER_S,
        monotonic_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__()
        self._least_s = self._gather_s = gather_s
        self._monotonic_s = monotonic_s
        self._sleep = sleep
        self._woken_s = -math.inf

    def expect(self, events: int) -> None:
        """Learn how many events may come from what is under way."""
        self._gather_s = max(self._least_s, min(events * EACH_S, MOST_S))

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; timeout: seconds to wait for it, None: until something is."""
        if timeout is not None and timeout <= 0:
            return super().select(timeout)
        left_s = self._woken_s + self._gather_s - self._monotonic_s()
        if left_s > 0:
            if timeout is not None:
                left_s = min(left_s, timeout)
                timeout -= left_s
            self._sleep(left_s)
        ready = super().select(timeout)
        self._woken_s = self._monotonic_s()
        return ready


class GatheringLoop(asyncio.SelectorEventLoop):
    """An event loop on such a selector, which is `gathering`."""

    def __init__(self) -> None:
        self.gathering = GatheringSelector()
        super().__init__(self.gathering)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new one."""
    return GatheringLoop()
