"""How many may send at once, and how often one agent may.

Invariant: at most `at_once` uploads are under way in this process, and none of an agent over
`per_minute` in any minute. Everybody else is told when to come again; nobody is queued, because a
connection that waits is one more that somebody pays for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from manager.errors import BusyError, SlowDownError

__all__ = ["Uploads"]

MINUTE_MS: Final = 60_000


class Uploads:
    """The uploads that are under way, and when each agent began its last ones."""

    def __init__(self, at_once: int, per_minute: int, now_ms: Callable[[], int]) -> None:
        self._at_once = at_once
        self._per_minute = per_minute
        self._now_ms = now_ms
        self._under_way = 0
        self._begun: dict[int, deque[int]] = {}

    @contextmanager
    def one(self, agent_id: int) -> Iterator[None]:
        """Let an agent send while the block runs; raises BusyError, SlowDownError."""
        if self._under_way >= self._at_once:
            raise BusyError(
                f"{self._under_way} uploads are under way, which is the limit "
                "(limits.uploads_at_once); send it again in a while",
                retry_after_s=30,
            )
        self._note(agent_id)
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def _note(self, agent_id: int) -> None:
        now_ms = self._now_ms()
        begun = self._begun.setdefault(agent_id, deque())
        # A clock that was set back must not shut anybody out for longer than a minute.
        while begun and not 0 <= now_ms - begun[0] < MINUTE_MS:
            begun.popleft()
        if len(begun) >= self._per_minute:
            wait_s = max(1, -(-(begun[0] + MINUTE_MS - now_ms) // 1000))
            raise SlowDownError(
                f"{len(begun)} uploads within a minute: the limit is {self._per_minute} "
                f"(limits.uploads_per_minute); send it again in {wait_s} s",
                wait_s,
            )
        begun.append(now_ms)
