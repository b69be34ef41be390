"""Pauses the crawl before the disk is full, and resumes it by itself.

Between pausing and resuming lies a twentieth of the reserve, so that a disk at the edge does not
start and stop the crawl every second.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from shared.messages import Message

__all__ = ["DiskGuard", "free_bytes"]

SLACK: Final = 0.05


def free_bytes(folder: Path) -> int:
    """Return what a user without privileges may still write there."""
    return shutil.disk_usage(folder).free


class DiskGuard:
    """Watches the free space of a folder's disk."""

    def __init__(
        self, folder: Path, reserve_bytes: int, free: Callable[[Path], int] = free_bytes
    ) -> None:
        self._folder = folder
        self._reserve_bytes = reserve_bytes
        self._free = free
        self._paused = False
        self.free_bytes = free(folder)

    def retune(self, reserve_bytes: int) -> None:
        """Leave another amount free."""
        self._reserve_bytes = reserve_bytes

    def check(self) -> Message | None:
        """Measure the free space; return why the crawl must pause, None: it need not."""
        self.free_bytes = self._free(self._folder)
        least = self._reserve_bytes * (1 + SLACK if self._paused else 1)
        self._paused = self.free_bytes < least
        if not self._paused:
            return None
        return Message(
            "agent.disk_reserve",
            folder=str(self._folder),
            free_bytes=self.free_bytes,
            reserve_bytes=self._reserve_bytes,
        )
