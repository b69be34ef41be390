"""Collection as the running agent sees it: orders taken from the sync, a process that carries them
out started when something is due, room kept on the disk.

The agent itself sends nothing: it seals the open segment when an order comes, so that the captures
until then can go, and looks every second whether the process is needed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from agent.app.session.session import CrawlSession
from agent.app.startup.agent_parts import Parts
from agent.app.startup.settings_mapping import user_agent
from agent.collection.allowance import Allowance, keep_limits
from agent.collection.holdings import Holdings
from agent.collection.orders import (
    Order,
    ask_now,
    due,
    keep_orders,
    order_of,
    read_orders,
    read_progress,
)
from agent.collection.retention import keep_room
from agent.collection.withdrawn_hosts import add_withdrawn, doomed
from agent.link.keys import Identity
from agent.settings import Home, Settings
from shared.archive.errors import DiskFullError
from shared.day_times import window_text
from shared.wire.sync_light import CollectionOrder, SendingLimits

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

__all__ = ["AgentCollection"]

LOOK_S: Final = 1.0
ROOM_S: Final = 60.0
STARTS_MOST: Final = 3  # without an end: a run that ends waits no longer
AGAIN_S: Final = 30.0  # after a process that ended with something left to do
END_S: Final = 5.0


class AgentCollection:
    """Starts and ends the process that sends."""

    def __init__(self, parts: Parts, identity: Identity) -> None:
        self._parts = parts
        self._identity = identity
        self._home = Home(parts.home.path)
        self._known: set[str] = {order.id for order in read_orders(self._home.collection)}
        self._unwritten: dict[str, Callable[[], None]] = {}  # for want of room
        self._process: SpawnProcess | None = None
        self._asked = bool(self._known)  # by the manager, since this process began
        self._last_order = ""  # of a run that is about to end
        self._starts = 0  # of the process, since it last had nothing left to do
        self._again_s = 0.0
        self._room_s = 0.0

    def finish(self) -> bool:
        """Send what is left, for a run that is about to end; tell whether nothing is left.

        Where the manager asked for anything during this run, what the run fetched goes, too.
        """
        settings = self._parts.session.settings
        if self._is_running or not self._asked:
            return not self._is_running
        if not Allowance(settings).is_open():
            return True
        if not self._last_order:
            self._parts.say("before this run ends, the fetched segments are sent to the manager")
            with suppress(DiskFullError):
                self._last_order = ask_now(self._home.collection, self._parts.clock.epoch_ms()).id
                return False
        return not self._due() or self._starts >= STARTS_MOST

    def go_on(self) -> None:
        """Take note that the run does not end yet."""
        self._last_order = ""

    def take(self, asked: tuple[CollectionOrder, ...]) -> None:
        """Keep what the manager asks for now."""
        self._asked = self._asked or bool(asked)
        orders = [order_of(order) for order in asked]
        self._write("orders", lambda: keep_orders(self._home.collection, orders))

    def take_limits(self, limits: SendingLimits | None) -> None:
        """Keep how fast and when the manager lets this agent send."""
        self._write("limits", lambda: keep_limits(self._home.collection, limits))
        self._parts.say(f"limits for sending segments: {_spoken(limits)}")

    def withdraw(self, hosts: tuple[str, ...], number: int) -> None:
        """Drop what is here of hosts that were taken out of the archive."""
        folder, now_ms = self._home.collection, self._parts.clock.epoch_ms()
        if hosts:
            self._parts.say(f"{len(hosts)} hosts were withdrawn: their captures are deleted here")
            self._parts.session.forget_hosts(hosts)
            seal(self._parts.session)
            self._again_s = 0.0
        self._write("withdrawn", lambda: add_withdrawn(folder, hosts, number, now_ms))

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

    def _write(self, name: str, write: Callable[[], None]) -> None:
        self._unwritten[name] = write
        with suppress(DiskFullError):  # it is tried again with each look
            self._write_all()

    def _write_all(self) -> None:
        for name in list(self._unwritten):
            self._unwritten[name]()
            del self._unwritten[name]

    async def _look(self) -> None:
        self._write_all()
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
        if self._is_running:
            return
        dropping = bool(doomed(self._home.collection, self._parts.clock.epoch_ms()))
        if not self._due() and not dropping:
            self._starts = 0
            return
        if now_s < self._again_s:
            return
        if not Allowance(settings).is_open() and not dropping:
            return
        if dropping:
            seal(self._parts.session)
        self._again_s = now_s + AGAIN_S
        process = _process_for(settings, self._identity)
        self._starts += 1
        await asyncio.to_thread(process.start)
        self._process = process

    def _due(self) -> list[Order]:
        folder = self._home.collection
        return due(read_orders(folder), read_progress(folder), self._parts.clock.epoch_ms())

    @property
    def _is_running(self) -> bool:
        return self._process is not None and self._process.is_alive()

    async def _end(self) -> None:
        """End the process; the next one continues its upload at the same byte."""
        process = self._process
        if process is None or not process.is_alive():
            return
        process.terminate()
        await asyncio.to_thread(process.join, END_S)
        if process.is_alive():
            process.kill()
            await asyncio.to_thread(process.join, END_S)


def _process_for(settings: Settings, identity: Identity) -> SpawnProcess:
    # What sends is imported by an agent that has something to send: most of the time none has.
    from multiprocessing import get_context  # noqa: PLC0415

    from agent.collection.process import run_process  # noqa: PLC0415

    return get_context("spawn").Process(
        target=run_process,
        args=(settings, identity, user_agent(settings)),
        name="collection",
        daemon=True,
    )


def _spoken(limits: SendingLimits | None) -> str:
    if limits is None:
        return "no limits"
    rate = "any rate" if limits.bytes_per_s is None else f"{limits.bytes_per_s} bytes/s"
    days = ", ".join(
        f"{name} {' '.join(map(window_text, windows)) or 'never'}"
        for name, windows in (("weekdays", limits.weekday), ("weekends", limits.weekend))
    )
    return f"{rate}, {days} {limits.zone}".rstrip()


def seal(session: CrawlSession) -> None:
    """Seal the open segment, so that it can be sent; without room it is sent next time."""
    with suppress(DiskFullError):
        session.ledger.seal_segment()
