"""Batches of syncs: one transaction and one check of the disk for all waiting syncs.

While one batch is in the database the next gathers, and for a moment longer while it is small: a
quiet manager answers a sync at once, and a busy one writes less often, not more slowly.
Invariants: a batch has at most one sync of each agent, in the order of arrival; an error in one
sync is returned only to its sender; a sync is answered only after its transaction was committed.
Source: group commit; docs/adr/0114.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from manager.db import Database
from manager.errors import BusyError, PrsmError
from manager.operations.fleet.sync import Asked, fleet_size, sync_all
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.policy import Policy
from manager.operations.request_senders import own_work
from shared.frozen import frozen
from shared.wire.sync import SyncAnswer, SyncRequest

__all__ = ["Syncs"]

AT_ONCE: Final = 100
"""Syncs in one transaction: others that want to write wait no longer than some tens of ms."""

APART_S: Final = 0.05
"""From the beginning of one batch to that of the next, while fewer than ENOUGH wait: a batch costs
some ten syncs, whatever it holds."""
ENOUGH: Final = 25

FLEET_S: Final = 10.0
"""How long the size of the fleet is good for: it only says how often agents call."""

_log: Final = logging.getLogger(__name__)


@frozen
class _Waiting:
    asked: Asked
    answer: asyncio.Future[SyncAnswer]


class Syncs:
    """Collects syncs of agents and answers many at once. For one event loop."""

    def __init__(self, db: Database, policy: Policy, now_ms: Callable[[], int]) -> None:
        self._db = db
        self._policy = policy
        self._now_ms = now_ms
        self._waiting: list[_Waiting] = []
        self._answering: asyncio.Task[None] | None = None
        self._fleet = 0
        self._fleet_until = 0.0
        self._enough = asyncio.Event()
        self._next_s = 0.0  # when the next batch may begin, of time.monotonic

    async def answer(self, agent: AgentIdentity, key_hash: str, request: SyncRequest) -> SyncAnswer:
        """Do `manager.operations.fleet.sync.sync`; raises what it raises.

        agent: whose key it was a moment ago. Raises UnknownKeyError where it is his no more.
        """
        waiting = _Waiting(
            Asked(agent, request, key_hash), asyncio.get_running_loop().create_future()
        )
        self._waiting.append(waiting)
        if len(self._waiting) >= ENOUGH:
            self._enough.set()
        if self._answering is None:
            with own_work():
                self._answering = asyncio.create_task(self._answer_all())
        return await waiting.answer

    async def _answer_all(self) -> None:
        try:
            while self._waiting:
                await self._gather()
                batch = self._next_batch()
                try:
                    await asyncio.to_thread(self._answer_batch, batch, asyncio.get_running_loop())
                except Exception as error:  # noqa: BLE001  # told to those who wait
                    _tell(batch, [error] * len(batch))
        finally:
            self._answering = None

    async def _gather(self) -> None:
        """Wait for more syncs, where a batch has just begun and few wait yet."""
        left_s = self._next_s - time.monotonic()
        if left_s > 0 and len(self._waiting) < ENOUGH:
            self._enough.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(left_s):
                    await self._enough.wait()
        self._next_s = time.monotonic() + APART_S

    def _next_batch(self) -> list[_Waiting]:
        """Take the first waiting sync of each agent; skip agents that disconnected."""
        batch: dict[int, _Waiting] = {}
        later = []
        for one in self._waiting:
            if one.answer.done():
                continue
            if one.asked.agent.id in batch or len(batch) >= AT_ONCE:
                later.append(one)
            else:
                batch[one.asked.agent.id] = one
        self._waiting = later
        return list(batch.values())

    def _answer_batch(self, batch: Sequence[_Waiting], loop: asyncio.AbstractEventLoop) -> None:
        """Answer a batch in a thread; where one spoils the others', each by itself."""
        try:
            outcomes = self._outcomes(batch)
        except BusyError:
            raise
        except Exception:
            if len(batch) == 1:
                raise
            _log.exception("%d syncs together failed; now one by one", len(batch))
            for one in batch:
                self._answer_alone(one, loop)
        else:
            loop.call_soon_threadsafe(_tell, batch, outcomes)

    def _answer_alone(self, one: _Waiting, loop: asyncio.AbstractEventLoop) -> None:
        outcomes: Sequence[SyncAnswer | Exception]
        try:
            outcomes = self._outcomes([one])
        except Exception as error:  # noqa: BLE001  # the waiting sender receives it
            outcomes = [error]
        loop.call_soon_threadsafe(_tell, [one], outcomes)

    def _outcomes(self, batch: Sequence[_Waiting]) -> list[SyncAnswer | PrsmError]:
        if time.monotonic() > self._fleet_until:
            self._fleet = fleet_size(self._db)
            self._fleet_until = time.monotonic() + FLEET_S
        asked = [one.asked for one in batch]
        return sync_all(self._db, asked, self._now_ms(), self._policy, self._fleet)


def _tell(batch: Sequence[_Waiting], outcomes: Sequence[SyncAnswer | Exception]) -> None:
    for one, outcome in zip(batch, outcomes, strict=True):
        if one.answer.done():
            continue  # who asked has gone
        if isinstance(outcome, Exception):
            one.answer.set_exception(outcome)
        else:
            one.answer.set_result(outcome)
