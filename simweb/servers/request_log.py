"""The log by which a crawl is judged: JSON lines, one written at once for each event.

Each line is one `write` to a file opened for appending: a killed process loses at most the line
it was writing. Times are epoch seconds (`time_*`) and seconds of the monotonic clock (`mono_*`);
the judge compares the latter. docs/simweb.md lists the fields.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shared.errors import SettingError

__all__ = ["RequestLog"]

_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


class RequestLog:
    """An append-only file of events; without a path it drops them."""

    def __init__(self, path: Path | None, on_failure: Callable[[OSError], None]) -> None:
        """on_failure: is called where the file cannot take an event."""
        self._on_failure = on_failure
        self._file: int | None = None
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(path, flags, 0o644)
        except OSError as error:
            raise SettingError(f"--log {path}: {error.strerror}; give a file to write") from error

    def write(self, event: str, **fields: Any) -> None:
        """Append one event now."""
        if self._file is None:
            return
        line = _encode({"event": event, **fields}).encode() + b"\n"
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            self._on_failure(error)

    def moment(self, event: str, **fields: Any) -> None:
        """Append an event that happens now."""
        now = round(time.time(), 6)
        self.write(event, time=now, mono=round(time.monotonic(), 6), **fields)

    def close(self) -> None:
        """Close the file; later events are dropped."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
