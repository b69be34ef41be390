"""Limits on request bodies: concurrent ones in all and per agent, and their rate.

Invariants: at most `at_once` uploads are under way in this process; of one agent at most
`per_agent`, and one only where half of all places are taken, so that others find one; of one agent
at most so many bytes; none over `per_minute` in any minute. Every other upload is refused with the
time of its next attempt. There is no queue, because each waiting connection costs resources.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from manager.errors import BusyError, SlowDownError
from manager.intake.body_errors import SenderShareError
from shared.errors import Fault

__all__ = ["Uploads"]

MINUTE_MS: Final = 60_000
SHARE_RETRY_S: Final = 10


@dataclass(slots=True)
class _Sender:
    """Requests of one agent under way, and the starts of its last uploads."""

    uploads: int = 0
    queued_bytes: int = 0
    begun: deque[int] = field(default_factory=deque)


class Uploads:
    """The uploads that are under way."""

    def __init__(
        self,
        at_once: int,
        per_minute: int,
        now_ms: Callable[[], int],
        *,
        per_agent: int | None = None,
        bytes_per_agent: int | None = None,
    ) -> None:
        """at_once: uploads of all agents; the others are of one. None: no such limit."""
        self._at_once = at_once
        self._per_minute = per_minute
        self._now_ms = now_ms
        self._per_agent = per_agent
        self._bytes_per_agent = bytes_per_agent
        self._under_way = 0
        self._senders: dict[int, _Sender] = {}

    @contextmanager
    def one(self, agent_id: int, declared_bytes: int | None = None) -> Iterator[None]:
        """Admit an upload of an agent for the block; raises BusyError, SlowDownError.

        declared_bytes: of its body; None: unknown, which counts as nothing.
        """
        if self._under_way >= self._at_once:
            raise BusyError("fleet.uploads_at_once", retry_after_s=30, value=self._under_way)
        sender = self._senders.setdefault(agent_id, _Sender())
        try:
            size_bytes = declared_bytes or 0
            self._check_share(sender, size_bytes)
            self._note(sender)
        except SlowDownError:
            self._forget_idle(agent_id)
            raise
        self._under_way += 1
        sender.uploads += 1
        sender.queued_bytes += size_bytes
        try:
            yield
        finally:
            self._under_way -= 1
            sender.uploads -= 1
            sender.queued_bytes -= size_bytes
            self._forget_idle(agent_id)

    def _check_share(self, sender: _Sender, size_bytes: int) -> None:
        if self._per_agent is not None:
            is_crowded = 2 * self._under_way >= self._at_once
            most = 1 if is_crowded else self._per_agent
            if sender.uploads >= most:
                raise SenderShareError(
                    Fault.SENDER_UPLOADS, sender.uploads, most, "limits.uploads_per_agent",
                    SHARE_RETRY_S,
                )  # fmt: skip
        queued_bytes, most_bytes = sender.queued_bytes + size_bytes, self._bytes_per_agent
        if most_bytes is not None and sender.uploads and queued_bytes > most_bytes:
            raise SenderShareError(
                Fault.SENDER_BYTES, queued_bytes, most_bytes, "limits.queued_bytes_per_agent",
                SHARE_RETRY_S,
            )  # fmt: skip

    def _note(self, sender: _Sender) -> None:
        now_ms, begun = self._now_ms(), sender.begun
        # A clock that was set back must not shut anybody out for longer than a minute.
        while begun and not 0 <= now_ms - begun[0] < MINUTE_MS:
            begun.popleft()
        if len(begun) >= self._per_minute:
            wait_s = max(1, -(-(begun[0] + MINUTE_MS - now_ms) // 1000))
            raise SlowDownError(
                "fleet.uploads_per_minute",
                wait_s,
                value=len(begun),
                limit=self._per_minute,
                wait_s=wait_s,
            )
        begun.append(now_ms)

    def _forget_idle(self, agent_id: int) -> None:
        sender = self._senders[agent_id]
        if not sender.uploads and not sender.begun:
            del self._senders[agent_id]
