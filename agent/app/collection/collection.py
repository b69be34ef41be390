"""Collection by the running agent: orders of the sync are kept, a process that carries them out is
started when something is due, room is kept on the disk.

The agent itself sends nothing: it seals the open segment when an order comes, so that the captures
until then can go, and checks every second whether the process is needed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from agent.app.runtime import Runtime
from agent.app.session.session import CrawlSession
from agent.collection.allowance import Allowance, write_limits
from agent.collection.orders import (
    Order,
    add_site_order,
    due_orders,
    order_from_wire,
    read_orders,
    read_progress,
    write_orders,
)
from agent.collection.retention import apply_retention
from agent.collection.segment_records import SegmentRecords
from agent.collection.withdrawn_hosts import add_withdrawn, hosts_to_delete
from agent.link.keys import Identity
from agent.settings import Settings
from shared.archive.errors import DiskFullError
from shared.day_times import window_text
from shared.wire.sync import CollectionOrder, SendingLimits

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

__all__ = ["AgentCollection"]

CHECK_S: Final = 1.0
ROOM_S: Final = 60.0
STARTS_MOST: Final = 3  # without an end: a run that ends waits no longer
AGAIN_S: Final = 30.0  # after a process that ended with something left to do
END_S: Final = 5.0


class AgentCollection:
    """Starts and ends the process that sends."""

    def __init__(self, runtime: Runtime, session: CrawlSession, identity: Identity) -> None:
        self._stopping = runtime.stopping
        self._clock = runtime.clock
        self._log_line = runtime.log_line
        self._home = runtime.home
        self._session = session
        self._identity = identity
        self._known: set[str] = {order.id for order in read_orders(self._home.collection)}
        self._unwritten: dict[str, Callable[[], None]] = {}  # for want of room
        self._process: SpawnProcess | None = None
        self._is_ordered = bool(self._known)  # by the manager, since this process began
        self._last_order = ""  # of a run that is about to end
        self._starts = 0  # of the process, since it last had nothing left to do
        self._again_s = 0.0
        self._room_s = 0.0

    def finish(self) -> bool:
        """Send what is left, for a run that is about to end; return whether nothing is left.

        Where the manager asked for anything during this run, what the run fetched goes, too.
        """
        settings = self._session.settings
        if self._is_running or not self._is_ordered:
            return not self._is_running
        if not Allowance(settings).is_open():
            return True
        if not self._last_order:
            self._log_line("before this run ends, the fetched segments are sent to the manager")
            with suppress(DiskFullError):
                self._last_order = add_site_order(self._home.collection, self._clock.epoch_ms()).id
                return False
        return not self._due() or self._starts >= STARTS_MOST

    def cancel_finish(self) -> None:
        """Take note that the run does not end yet."""
        self._last_order = ""

    def take_orders(self, asked: tuple[CollectionOrder, ...]) -> None:
        """Keep what the manager asks for now."""
        self._is_ordered = self._is_ordered or bool(asked)
        orders = [order_from_wire(order) for order in asked]
        self._write("orders", lambda: write_orders(self._home.collection, orders))

    def take_limits(self, limits: SendingLimits | None) -> None:
        """Keep how fast and when the manager lets this agent send."""
        self._write("limits", lambda: write_limits(self._home.collection, limits))
        self._log_line(f"limits for sending segments: {_limits_text(limits)}")

    def withdraw(self, hosts: tuple[str, ...], number: int) -> None:
        """Drop what is here of hosts that were taken out of the archive."""
        folder, now_ms = self._home.collection, self._clock.epoch_ms()
        if hosts:
            self._log_line(f"{len(hosts)} hosts were withdrawn: their captures are deleted here")
            self._session.forget_hosts(hosts)
            seal(self._session)
            self._again_s = 0.0
        self._write("withdrawn", lambda: add_withdrawn(folder, hosts, number, now_ms))

    async def run(self) -> None:
        """Check until the agent stops."""
        stopping = self._stopping
        while not stopping.is_requested:
            try:
                await self._check()
            except DiskFullError as error:
                self._log_line(f"collection: {error}")
                await stopping.pause(AGAIN_S)
            await stopping.pause(CHECK_S)
        await self._end()

    def _write(self, name: str, write: Callable[[], None]) -> None:
        self._unwritten[name] = write
        with suppress(DiskFullError):  # it is tried again with each check
            self._write_all()

    def _write_all(self) -> None:
        for name in list(self._unwritten):
            self._unwritten[name]()
            del self._unwritten[name]

    async def _check(self) -> None:
        self._write_all()
        settings = self._session.settings  # those in force now
        now_s = time.monotonic()
        if now_s >= self._room_s and not self._is_running:
            self._room_s = now_s + ROOM_S
            records = SegmentRecords(self._home.segments, self._home.collection)
            await asyncio.to_thread(apply_retention, settings, records, self._log_line)
        orders = read_orders(self._home.collection)
        new = {order.id for order in orders} - self._known
        if new:
            self._known |= new
            self._again_s = 0.0
            seal(self._session)
        if self._is_running:
            return
        dropping = bool(hosts_to_delete(self._home.collection, self._clock.epoch_ms()))
        if not self._due() and not dropping:
            self._starts = 0
            return
        if now_s < self._again_s:
            return
        if not Allowance(settings).is_open() and not dropping:
            return
        if dropping:
            seal(self._session)
        self._again_s = now_s + AGAIN_S
        process = _process_for(settings, self._identity)
        self._starts += 1
        await asyncio.to_thread(process.start)
        self._process = process

    def _due(self) -> list[Order]:
        folder = self._home.collection
        return due_orders(read_orders(folder), read_progress(folder), self._clock.epoch_ms())

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
        args=(settings, identity),
        name="collection",
        daemon=True,
    )


def _limits_text(limits: SendingLimits | None) -> str:
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
