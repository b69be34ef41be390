"""The agent's log file in its home, bounded for years.

The source's `robot.log`. Two files at most, the older one ends in `.1`; each is let go at half of
the bound. Nothing waits for it, and a disk that is full costs lines of it and nothing else.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

from shared.plurals import with_plurals

__all__ = ["LOG_BYTES", "LineLogger", "RobotLog"]

LineLogger = Callable[[str], None]
"""Writes one sentence to the log of the agent, or to the terminal of a command."""

LOG_BYTES: Final = 10_000_000  # of both files; months of an agent that has nothing unusual to say
_LINE_CHARS: Final = 4000


class RobotLog:
    """The log file of one home."""

    def __init__(self, path: Path, most_bytes: int = LOG_BYTES) -> None:
        self._path = path
        self._half_bytes = most_bytes // 2

    def append(self, text: str) -> None:
        """Append a sentence with its time: one line, nothing in it a command to a terminal."""
        plain = "".join(
            one if one.isprintable() else " " for one in with_plurals(text[:_LINE_CHARS])
        )
        now = datetime.now().astimezone().isoformat(" ", "seconds")
        line = f"{now} [{os.getpid()}] {plain}\n".encode()
        with contextlib.suppress(OSError):
            self._make_room(len(line))
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "ab") as file:
                file.write(line)

    def _make_room(self, more_bytes: int) -> None:
        try:
            size_bytes = self._path.stat().st_size
        except FileNotFoundError:
            return
        if size_bytes + more_bytes > self._half_bytes:
            self._path.replace(self._path.with_name(self._path.name + ".1"))
