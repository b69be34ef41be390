"""Time limit of a page: processor time for each half of its work, after which the process ends."""

from __future__ import annotations

import signal
from typing import Final

__all__ = ["PageTimeout"]

SPENT_SHARE: Final = 0.05
"""Of a page's CPU time may have gone to the pages before it, so that the timer need not be set for
each of them."""


class PageTimeout:
    """Timer of this process. SIGPROF ends it, also in the middle of a parser's loop."""

    def __init__(self, cpu_s: float) -> None:
        """cpu_s: for each half of the work on a page (`pages.page_cpu_s`)."""
        self._cpu_s = cpu_s
        self._next_start_s = 0.0

    def start(self, now_s: float) -> None:
        """Start the limit of a page, unless almost all of it is left."""
        if now_s >= self._next_start_s:
            signal.setitimer(signal.ITIMER_PROF, self._cpu_s)
            self._next_start_s = now_s + self._cpu_s * SPENT_SHARE

    def stop(self, now_s: float) -> None:
        """Stop the limit, if the last page may have left next to nothing of it."""
        if now_s >= self._next_start_s:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._next_start_s = 0.0
