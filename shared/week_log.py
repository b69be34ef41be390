"""Logs of transfers, a file a week, on both sides: `transfers-2026-W47.tsv`.

A line a transfer: when it began and ended (UTC), who sent it, the file, its bytes, the bytes that
were sent for it, bytes a second, and its outcome. Lines are short and written by one call, so
that several processes may write one file. Weeks are those of ISO 8601, in UTC.
Source: seed 004, section 5.4.1.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from shared.frozen import frozen

__all__ = ["TransferLine", "WeekLog"]

HEADER: Final = "begun\tended\tagent\tfile\tbytes\tsent\tbytes/s\tway\tresult\n"
_NAME: Final = re.compile(r"transfers-([0-9]{4})-W([0-9]{2})\.tsv")
RESULT_CHARS: Final = 300


@frozen
class TransferLine:
    """One transfer that is over."""

    begun_ms: int
    ended_ms: int
    agent: str
    file: str
    size_bytes: int
    sent_bytes: int
    way: str
    result: str

    def __str__(self) -> str:
        elapsed_s = max(0.001, (self.ended_ms - self.begun_ms) / 1000)
        cells = (
            _time(self.begun_ms),
            _time(self.ended_ms),
            self.agent,
            self.file,
            str(self.size_bytes),
            str(self.sent_bytes),
            f"{self.sent_bytes / elapsed_s:.0f}",
            self.way,
            self.result[:RESULT_CHARS],
        )
        return "\t".join(_cell(cell) for cell in cells) + "\n"


class WeekLog:
    """The logs of one folder."""

    def __init__(self, folder: Path, keep_s: float) -> None:
        self._folder = folder
        self._keep_s = keep_s

    def add(self, line: TransferLine) -> Path:
        """Write a line into its week's file, and remove files that are too old. Raises OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / _name(line.ended_ms)
        text = str(line)
        if not path.exists():
            text = HEADER + text
            self.prune(line.ended_ms)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, text.encode())
            os.fdatasync(handle)
        finally:
            os.close(handle)
        return path

    def prune(self, now_ms: int) -> int:
        """Remove the files of weeks that ended too long ago; return how many."""
        oldest = _name(now_ms - round(self._keep_s * 1000))
        old = [path for path in self._folder.iterdir() if _NAME.fullmatch(path.name)]
        gone = [path for path in old if path.name < oldest]
        for path in gone:
            path.unlink(missing_ok=True)
        return len(gone)


def _name(at_ms: int) -> str:
    year, week, _ = datetime.fromtimestamp(at_ms / 1000, UTC).isocalendar()
    return f"transfers-{year:04d}-W{week:02d}.tsv"


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _cell(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)
