"""Agent keys of requests, looked up in one batch for all that wait.

While one query runs the next gathers, so a fleet that comes back after an hour costs a few queries
and not one a request. Invariant: `agent_of_key` asks the database after the call;
`recent_agent_of_key` may return an old answer, which its caller checks.
Source: docs/adr/0114.
"""

from __future__ import annotations

import asyncio
from typing import Final

from manager.db import Database
from manager.operations.identity.enrolment import AgentIdentity, authenticate
from manager.operations.request_senders import own_work

__all__ = ["Keys"]

AT_ONCE: Final = 500
REMEMBERED: Final = 100_000
"""Identities, of some 200 bytes each, before all are forgotten and looked up again."""


class Keys:
    """Looks up keys. For one event loop."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._waiting: dict[str, asyncio.Future[AgentIdentity | None]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._known: dict[str, AgentIdentity] = {}

    async def agent_of_key(self, key_hash: str) -> AgentIdentity | None:
        """Return the agent whose key has this hash, or None. Raises BusyError."""
        answer = self._waiting.get(key_hash)
        if answer is None:
            answer = asyncio.get_running_loop().create_future()
            self._waiting[key_hash] = answer
        if self._looking is None:
            with own_work():
                self._looking = asyncio.create_task(self._look())
        # Others may wait for the same key: who goes away does not take the answer with him.
        known = await asyncio.shield(answer)
        if known is None:
            self._known.pop(key_hash, None)
        else:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[key_hash] = known
        return known

    async def recent_agent_of_key(self, key_hash: str) -> AgentIdentity | None:
        """Return the agent of a key as of its last use, without a query. Raises BusyError."""
        return self._known.get(key_hash) or await self.agent_of_key(key_hash)

    def forget(self, key_hash: str) -> None:
        """Ask the database the next time that this key is shown."""
        self._known.pop(key_hash, None)

    async def _look(self) -> None:
        try:
            while self._waiting:
                batch = {key: self._waiting.pop(key) for key in list(self._waiting)[:AT_ONCE]}
                try:
                    found = await asyncio.to_thread(authenticate, self._db, batch)
                except Exception as error:  # noqa: BLE001  # told to those who wait
                    for answer in batch.values():
                        answer.set_exception(error)
                        answer.exception()  # possibly no caller is left
                else:
                    for key_hash, answer in batch.items():
                        answer.set_result(found.get(key_hash))
        finally:
            self._looking = None
