"""Pauses the crawl while the machine has too much to do, and lets it go on by itself.

What counts is the system's load average over a minute, this agent's own share in it, divided by the
cores. Between pausing and going on lies a fifth of the limit, so that it does not flicker.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

__all__ = ["LoadGuard"]

SLACK: Final = 0.2


def load_a_core() -> float:
    """Return the load average over the last minute, divided by the cores."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


class LoadGuard:
    """Watches the load of this machine."""

    def __init__(self, most: float, load: Callable[[], float] = load_a_core) -> None:
        """most: a core; 0: no limit."""
        self._most = most
        self._load = load
        self._paused = False

    def retune(self, most: float) -> None:
        """Take another limit."""
        self._most = most

    def look(self) -> str:
        """Look at the load; say why the crawl must pause, or return an empty text."""
        load = self._load()
        self._paused = self._most > 0 and load > self._most * (1 - SLACK * self._paused)
        if not self._paused:
            return ""
        return (
            f"the load of this machine is {load:.1f} a core, and pages.most_load = "
            f"{self._most:g}; the crawl goes on when it is calmer"
        )
