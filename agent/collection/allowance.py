"""Allowed rate and hours of sending segments, by the site and by the manager, and the rate kept.

Invariant: the stricter of both holds, whoever said it last. The manager's word is a file in the
folder `collection`, so that it holds while no manager is reached, and for each process that sends.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Final

from agent.control.zone import zone_named
from agent.settings import Home, Settings, window_minutes
from agent.settings.home import write_whole
from shared.errors import FormatError
from shared.windows import Windows
from shared.wire.sync import SendingLimits, said
from shared.wire.sync_reading import read_sending_limits

__all__ = ["Allowance", "Pace", "read_limits", "write_limits"]

LIMITS: Final = "limits.json"


def write_limits(folder: Path, limits: SendingLimits | None) -> None:
    """Keep what the manager says now. Raises DiskFullError."""
    folder.mkdir(mode=0o700, exist_ok=True)
    text = "" if limits is None else json.dumps(said(limits))
    write_whole(folder / LIMITS, [text.encode()])


def read_limits(folder: Path) -> SendingLimits | None:
    """Return what the manager said last; what cannot be read is nothing."""
    try:
        return read_sending_limits((folder / LIMITS).read_bytes())
    except (OSError, FormatError):
        return None


class Allowance:
    """Return the allowance of now; the file is read again with each call."""

    def __init__(self, settings: Settings) -> None:
        self._site = settings.collection
        self._zone = zone_named(settings.windows.zone)
        self._hours = Windows(
            self._zone,
            tuple(window_minutes(text) for text in self._site.weekday),
            tuple(window_minutes(text) for text in self._site.weekend),
        )
        self._folder = Home(settings.home).collection
        self._seen: tuple[int, int] | None = None
        self._asked: SendingLimits | None = None
        self._asked_hours: Windows | None = None

    @property
    def bytes_per_s(self) -> int:
        """Return how fast; 0: no limit."""
        self._reread_if_changed()
        asked = self._asked.bytes_per_s if self._asked is not None else None
        return min(filter(None, (self._site.bytes_per_s, asked)), default=0)

    def is_open(self, now: datetime | None = None) -> bool:
        """Return whether segments may be sent at an instant; None: now."""
        self._reread_if_changed()
        now = now or datetime.now(UTC)
        asked = self._asked_hours
        return self._hours.is_open(now) and (asked is None or asked.is_open(now))

    def _reread_if_changed(self) -> None:
        try:
            status = (self._folder / LIMITS).stat()
            seen = status.st_mtime_ns, status.st_ino
        except OSError:
            seen = None
        if seen == self._seen:
            return
        self._seen, self._asked = seen, read_limits(self._folder)
        self._asked_hours = None
        if self._asked is not None:
            self._asked_hours = Windows(
                self._zone_of(self._asked), self._asked.weekday, self._asked.weekend
            )

    def _zone_of(self, asked: SendingLimits) -> tzinfo:
        try:
            return zone_named(asked.zone) if asked.zone else self._zone
        except (ValueError, OSError, KeyError):  # a zone that this machine does not know
            return self._zone


class Pace:
    """So many bytes a second, evenly: says how long who takes bytes is to wait. For any thread.

    Source: the leaky bucket as a meter (Turner 1986), with room for a quarter of a second.
    """

    def __init__(
        self, bytes_per_s: Callable[[], int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """bytes_per_s: asked each time; 0 is no limit."""
        self._bytes_per_s = bytes_per_s
        self._clock = clock
        self._free_s = clock()
        self._turn = threading.Lock()

    def wait_s(self, size_bytes: int) -> float:
        """Take so many bytes; return how long to wait until they may go."""
        bytes_per_s = self._bytes_per_s()
        if not bytes_per_s:
            return 0.0
        with self._turn:
            now_s = self._clock()
            self._free_s = max(self._free_s, now_s - 0.25) + size_bytes / bytes_per_s
            return max(0.0, self._free_s - now_s)
