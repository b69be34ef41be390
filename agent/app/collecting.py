"""Collection as the running agent sees it: orders taken from the sync, a process that carries them
out started when something is due, room kept on the disk.

The agent itself sends nothing: it seals the open segment when an order comes, so that what was
fetched until then can go, and looks every second whether the process is needed.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from contextlib import suppress
from datetime import UTC, datetime
from multiprocessing.context import SpawnProcess
from typing import Final

from agent.adapters.clock import SystemClock
from agent.adapters.ledger import LedgerOptions, SqliteLedger
from agent.app.mapping import segment_info, user_agent
from agent.app.parts import Parts, Say
from agent.app.session import CrawlSession
from agent.collection.holdings import Holdings
from agent.collection.orders import (
    ask_now,
    due,
    forget_now,
    keep_orders,
    order_of,
    read_orders,
    read_progress,
)
from agent.collection.process import collect, keep_room, run_process
from agent.collection.rate import hours_of
from agent.control.lock import HomeLock
from agent.errors import HomeError
from agent.link.keys import Identity
from agent.settings import Home, Settings
from shared.archive.errors import DiskFullError
from shared.wire.sync import CollectionOrder

__all__ = ["Collecting", "collect_at_rest"]

LOOK_S: Final = 1.0
ROOM_S: Final = 60.0
AGAIN_S: Final = 30.0  # after a process that ended with something left to do
END_S: Final = 5.0


class Collecting:
    """Starts and ends the process that sends."""

    def __init__(self, parts: Parts, identity: Identity) -> None:
        self._parts = parts
        self._identity = identity
        self._home = Home(parts.home.path)
        self._known: set[str] = {order.id for order in read_orders(self._home.collection)}
        self._process: SpawnProcess | None = None
        self._again_s = 0.0
        self._room_s = 0.0

    def take(self, asked: tuple[CollectionOrder, ...]) -> None:
        """Keep what the manager asks for now; raises DiskFullError."""
        keep_orders(self._home.collection, [order_of(order) for order in asked])

    async def run(self) -> None:
        """Look until the agent stops."""
        stopping = self._parts.stopping
        while not stopping.asked:
            try:
                await self._look()
            except DiskFullError as error:
                self._parts.say(f"collection: {error}")
                await stopping.pause(AGAIN_S)
            await stopping.pause(LOOK_S)
        await self._end()

    async def _look(self) -> None:
        settings = self._parts.session.settings  # those in force now
        now_s = time.monotonic()
        if now_s >= self._room_s and not self._is_running:
            self._room_s = now_s + ROOM_S
            holdings = Holdings(self._home.segments, self._home.collection)
            await asyncio.to_thread(keep_room, settings, holdings, self._parts.say)
        orders = read_orders(self._home.collection)
        new = {order.id for order in orders} - self._known
        if new:
            self._known |= new
            self._again_s = 0.0
            seal(self._parts.session)
        waiting = due(orders, read_progress(self._home.collection), self._parts.clock.epoch_ms())
        if not waiting or self._is_running or now_s < self._again_s:
            return
        if not hours_of(settings).is_open(datetime.now(UTC)):
            return
        self._again_s = now_s + AGAIN_S
        process = multiprocessing.get_context("spawn").Process(
            target=run_process,
            args=(settings, self._identity, user_agent(settings)),
            name="collection",
            daemon=True,
        )
        await asyncio.to_thread(process.start)
        self._process = process

    @property
    def _is_running(self) -> bool:
        return self._process is not None and self._process.is_alive()

    async def _end(self) -> None:
        """End the process; what it was sending goes on where it was, next time."""
        process = self._process
        if process is None or not process.is_alive():
            return
        process.terminate()
        await asyncio.to_thread(process.join, END_S)
        if process.is_alive():
            process.kill()
            await asyncio.to_thread(process.join, END_S)


def collect_at_rest(settings: Settings, identity: Identity, say: Say) -> str:
    """Send what the centre has not accepted, where no agent runs; return what became of it.

    Raises HomeError where one runs after all, or not all could be sent; DiskFullError.
    """
    home, clock = Home(settings.home), SystemClock()
    home.make()
    lock = HomeLock.take(home.lock)
    try:
        options = LedgerOptions(
            agent=identity.name,
            info=segment_info(settings, identity.name),
            max_segment_bytes=settings.disk.segment_bytes,
        )
        ledger = SqliteLedger.open(home.crawl, options, clock)
        try:
            with suppress(DiskFullError):  # what is sealed can go
                ledger.seal_segment()
        finally:
            ledger.close()
        order = ask_now(home.collection, clock.epoch_ms())
        collect(settings, identity, user_agent(settings), say=say)
        progress = read_progress(home.collection).get(order.id)
        forget_now(home.collection, order.id)
    finally:
        lock.release()
    if progress is None or progress.state != "done":
        raise HomeError(
            f"not all was sent: {progress.result if progress else 'the hours are over'}; what was "
            "begun goes on where it was"
        )
    return progress.result


def seal(session: CrawlSession) -> None:
    """Seal the open segment, so that it can be sent; without room it is sent next time."""
    with suppress(DiskFullError):
        session.ledger.seal_segment()
