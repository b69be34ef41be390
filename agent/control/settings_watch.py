"""Watch of the settings file: it was changed, or SIGHUP asks to read it again.

A file is read when it is the same at two checks in a row: an editor may still be writing it.
On a terminal SIGHUP means what it always does: the terminal is gone, and the agent ends.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

__all__ = ["SettingsWatch"]

_FileState = tuple[int, int, int] | None


class SettingsWatch:
    """Watches one file by its time, size and inode."""

    def __init__(self, path: Path) -> None:
        """Take the present file as read."""
        self._path = path
        self._read = self._last = self._file_state()
        self._is_requested = False

    def due(self) -> bool:
        """Return whether the file should be read now; the caller then reads it."""
        last, self._last = self._last, self._file_state()
        stable = self._last == last and self._last != self._read
        if not (self._is_requested or stable):
            return False
        self._is_requested, self._read = False, self._last
        return True

    def request(self) -> None:
        """Request a read of the file at the next check, changed or not."""
        self._is_requested = True

    def handle_signal(self) -> None:
        """Take SIGHUP as such a request, for as long as the loop runs."""
        if not _on_terminal():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self.request)

    def restore_signal(self) -> None:
        """Restore the default handling of the signal."""
        asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)

    def _file_state(self) -> _FileState:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino)


def _on_terminal() -> bool:
    return any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
