"""Bytes fetched in this calendar month, kept over restarts, and the site's cap.

Bytes are those of answers as they came over the network. A crash forgets what the last minute
brought: a cap is for a contract with a provider, and ends a crawl some seconds late anyway. A clock
that was wrong for a while begins no month again: the count of each month is found again.
"""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Final

from agent.settings.home import write_whole
from shared.archive.errors import DiskFullError
from shared.messages import Message

__all__ = ["MonthlyBytes"]

_KEEP_MS: Final = 60_000
_MONTHS: Final = 4  # that are remembered, those counted in last


class MonthlyBytes:
    """Counts received bytes, month by month on the site's clock."""

    def __init__(self, path: Path, limit_bytes: int, zone: tzinfo) -> None:
        """limit_bytes: of a month; 0: none. A file that cannot be read counts as nothing."""
        self._path = path
        self._limit_bytes = limit_bytes
        self._zone = zone
        self._months = self._read()  # bytes by month, the one of now last
        self._counted = 0
        self._kept = dict(self._months)
        self._kept_ms = 0

    @property
    def bytes(self) -> int:
        """Return how much was fetched in the month of now."""
        return next(reversed(self._months.values()), 0)

    def retune(self, limit_bytes: int, zone: tzinfo) -> None:
        """Take another cap, or another clock."""
        self._limit_bytes, self._zone = limit_bytes, zone

    def check(self, now_ms: int, counted_bytes: int, *, last: bool = False) -> Message | None:
        """Count what this process fetched so far; return why the crawl must pause, None: need not.

        last: the process ends, and what is not kept now is forgotten.
        """
        month = datetime.fromtimestamp(now_ms / 1000, UTC).astimezone(self._zone).strftime("%Y-%m")
        self._months[month] = self._months.pop(month, 0) + counted_bytes - self._counted
        self._counted = counted_bytes
        if len(self._months) > _MONTHS:
            del self._months[next(iter(self._months))]
        if last or abs(now_ms - self._kept_ms) >= _KEEP_MS:
            self._keep(now_ms)
        if not self._limit_bytes or self.bytes < self._limit_bytes:
            return None
        return Message(
            "agent.month_over",
            month=month,
            fetched_bytes=self.bytes,
            limit_bytes=self._limit_bytes,
        )

    def _keep(self, now_ms: int) -> None:
        self._kept_ms = now_ms
        if self._months == self._kept:
            return
        month, count = next(reversed(self._months.items()))
        # A release that went back reads the month of now only, as versions before did.
        values = {"month": month, "bytes": count, "months": self._months}
        with contextlib.suppress(DiskFullError):  # the next minute tries again
            write_whole(self._path, [json.dumps(values).encode()])
            self._kept = dict(self._months)

    def _read(self) -> dict[str, int]:
        try:
            values = json.loads(self._path.read_bytes())
            months = values.get("months") or {values["month"]: values["bytes"]}
            return {str(month): max(0, int(count)) for month, count in months.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
            return {}
