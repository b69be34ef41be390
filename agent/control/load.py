"""Pauses the crawl while the machine has too much to do, and resumes it by itself.

What counts is the system's load average over a minute, this agent's own share in it, divided by the
cores. Between pausing and resuming lies a fifth of the limit, so that it does not flicker.
How much of its hours the machine was calm lately is remembered over restarts: the manager gives
work by it, as it does by the hours themselves.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.settings.home import write_whole
from shared.archive.errors import DiskFullError
from shared.messages import Message

__all__ = ["LoadGuard"]

SLACK: Final = 0.2
MEMORY_S: Final = 86_400.0  # of hours: a value from three days of them ago counts for a twentieth
GAP_S: Final = 10.0  # a check comes each second; of a longer gap nothing is known
KEEP_S: Final = 600.0
LEAST: Final = 0.01


def load_a_core() -> float:
    """Return the load average over the last minute, divided by the cores."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


class LoadGuard:
    """Watches the load of this machine."""

    def __init__(
        self,
        most: float,
        path: Path,
        load: Callable[[], float] = load_a_core,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """most: a core; 0: no limit. path: what is remembered; what cannot be read is nothing."""
        self._most = most
        self._path = path
        self._load = load
        self._now_s = now_s
        self._paused = False
        self._calm = self._kept = _read(path)
        self._checked_s = self._kept_s = now_s()

    def retune(self, most: float) -> None:
        """Take another limit."""
        self._most = most

    @property
    def calm(self) -> float:
        """Return the part of its hours in which the machine was calm lately, 0.01 to 1."""
        return max(LEAST, round(self._calm, 2)) if self._most > 0 else 1.0

    def check(self, *, counts: bool = True, last: bool = False) -> Message | None:
        """Measure the load; return why the crawl must pause, None: it need not.

        counts: whether it is within the site's hours. last: the process ends.
        """
        load = self._load()
        self._paused = self._most > 0 and load > self._most * (1 - SLACK * self._paused)
        self._count(counts=counts, last=last)
        if not self._paused:
            return None
        return Message("agent.load_high", load=round(load, 1), limit=self._most)

    def _count(self, *, counts: bool, last: bool) -> None:
        now_s = self._now_s()
        passed_s, self._checked_s = min(now_s - self._checked_s, GAP_S), now_s
        if counts and self._most > 0:
            self._calm += (1 - self._paused - self._calm) * -math.expm1(-passed_s / MEMORY_S)
        if self._calm == self._kept or not (last or now_s - self._kept_s >= KEEP_S):
            return
        self._kept_s = now_s
        with contextlib.suppress(DiskFullError):
            write_whole(self._path, [json.dumps({"calm": self._calm}).encode()])
            self._kept = self._calm


def _read(path: Path) -> float:
    try:
        calm = float(json.loads(path.read_bytes())["calm"])
    except (OSError, ValueError, KeyError, TypeError):
        return 1.0
    return calm if 0 <= calm <= 1 else 1.0
