"""Usage counters of tokens: counted at once, stored every few seconds.

Invariant: a token's bytes of today are what is written down plus what is counted here; a kill
loses a few seconds of counting, never a row. With several managers each counts its own.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

from manager.db import Database
from manager.errors import SlowDownError
from manager.operations.people.clients import DAY_MS, Client, UsageRow, take_usage

__all__ = ["Usage"]


class Usage:
    """Counters of all tokens; any thread may ask."""

    def __init__(self, db: Database, now_ms: Callable[[], int]) -> None:
        self._db = db
        self._now_ms = now_ms
        self._changing = threading.Lock()
        self._counts: dict[tuple[int, int], list[int]] = {}
        self._buckets: dict[int, tuple[float, int]] = {}

    def begin(self, client: Client) -> None:
        """Count a request; raises SlowDownError where it is one too many, or the day is used up."""
        now_ms = self._now_ms()
        day = now_ms // DAY_MS
        with self._changing:
            self._check_rate(client, now_ms)
            counted = self._counts.setdefault((client.token_id, day), [0, 0])
            counted[0] += 1
            taken = client.taken_bytes + counted[1]
        if client.daily_bytes and taken >= client.daily_bytes:
            raise SlowDownError(
                "archive.daily_bytes",
                -(-((day + 1) * DAY_MS - now_ms) // 1000),
                taken_bytes=taken,
                daily_bytes=client.daily_bytes,
            )

    def _check_rate(self, client: Client, now_ms: int) -> None:
        most = client.requests_per_minute
        left, at_ms = self._buckets.get(client.token_id, (float(most), now_ms))
        left = min(float(most), left + max(0, now_ms - at_ms) * most / 60_000)
        if left < 1:
            raise SlowDownError(
                "archive.requests_per_minute", math.ceil((1 - left) * 60 / most), limit=most
            )
        self._buckets[client.token_id] = (left - 1, now_ms)

    def took(self, client: Client, size_bytes: int) -> None:
        """Count bytes that were sent."""
        key = (client.token_id, self._now_ms() // DAY_MS)
        with self._changing:
            self._counts.setdefault(key, [0, 0])[1] += size_bytes

    def flush(self) -> None:
        """Store the counts since the last time; keeps them if the database is unreachable."""
        with self._changing:
            counts, self._counts = self._counts, {}
        rows = [UsageRow(token, day, *counted) for (token, day), counted in counts.items()]
        try:
            take_usage(self._db, rows, self._now_ms())
        except BaseException:
            with self._changing:
                for key, (requests, size_bytes) in counts.items():
                    kept = self._counts.setdefault(key, [0, 0])
                    kept[0] += requests
                    kept[1] += size_bytes
            raise
