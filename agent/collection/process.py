"""The process that sends segments: started when something is due, it ends when nothing is.

It ends with its parent, keeps out of the way of the crawl (nice), and holds the lock of the folder
`collection`, so that no two processes send at once. Killed at any moment it loses a chunk at most.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from typing import Final

from agent.collection.allowance import Allowance, Pace
from agent.collection.carrier import Carrier
from agent.collection.offers import OfferSender
from agent.collection.retention import apply_retention
from agent.collection.segment_delivery import (
    DeliveryClock,
    SegmentDelivery,
    TransferJournal,
)
from agent.collection.segment_records import SegmentRecords
from agent.collection.segment_server import Tokens
from agent.collection.segment_upload import SegmentSender, StopSendingError
from agent.collection.tus import TusClient
from agent.collection.withdrawal import drop_hosts
from agent.collection.withdrawn_hosts import hosts_to_delete, note_dropped
from agent.control.robot_log import LineLogger
from agent.errors import HomeError
from agent.link.client import client_of
from agent.link.keys import Identity
from agent.settings import Home, Settings
from shared.archive.errors import DiskFullError
from shared.week_log import WeekLog

__all__ = ["collect", "run_process"]

LOCK: Final = "lock"
STATUS: Final = "status.json"
LOGS: Final = "logs"
NICE: Final = 5
KEEP_LOGS_S: Final = 365 * 86400.0


def run_process(settings: Settings, identity: Identity) -> None:
    """Carry out what is due, as a child of the agent; the process's program."""
    with suppress(OSError):
        os.nice(NICE)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def log_line(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    try:
        collect(settings, identity, log_line=log_line, stopped=stopped.is_set)
    except (HomeError, DiskFullError) as error:
        log_line(f"collection: {error}")


def collect(
    settings: Settings,
    identity: Identity,
    *,
    log_line: LineLogger,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Carry out all that is due in a home, then delete what may go.

    Raises HomeError where another process does so already, DiskFullError.
    """
    with _alone(Home(settings.home)):
        asyncio.run(_collect(settings, identity, log_line, stopped))


async def _collect(
    settings: Settings,
    identity: Identity,
    log_line: LineLogger,
    stopped: Callable[[], bool],
) -> None:
    home = Home(settings.home)
    records = SegmentRecords(home.segments, home.collection)
    allowance = Allowance(settings)

    def may_send() -> bool:
        return (
            not stopped()
            and allowance.is_open()
            and not hosts_to_delete(home.collection, _now_ms())
        )

    await asyncio.to_thread(_drop_withdrawn, home, records, log_line)
    async with client_of(settings, identity) as manager:
        sender = SegmentSender(
            TusClient(manager, Pace(lambda: allowance.bytes_per_s)),
            chunk_bytes=settings.collection.chunk_bytes,
            may_send=may_send,
            note=_ProgressNotes(home),
        )
        log = WeekLog(home.collection / LOGS, KEEP_LOGS_S)
        delivery = SegmentDelivery(
            records,
            sender,
            OfferSender(manager, records, Tokens(home)),
            TransferJournal(records, log, identity.name, log_line),
            DeliveryClock(_now_ms),
            may_send,
        )
        carrier = Carrier(
            home.collection,
            delivery,
            manager,
            retry_s=settings.collection.retry_delay_s,
            now_ms=_now_ms,
            log_line=log_line,
        )
        with suppress(StopSendingError):
            await carrier.carry_out()
    apply_retention(settings, records, log_line)


def _drop_withdrawn(home: Home, records: SegmentRecords, log_line: LineLogger) -> None:
    hosts = hosts_to_delete(home.collection, _now_ms())
    if hosts and (count := drop_hosts(records, hosts, log_line)):
        log_line(f"{len(hosts)} hosts were withdrawn; {count} segments held captures of them")
    if hosts:
        note_dropped(home.collection, hosts, _now_ms())


class _ProgressNotes:
    """Says now and then how far the segment under way is, for `prs collect`."""

    def __init__(self, home: Home) -> None:
        self._path = home.collection / STATUS
        self._next_s = 0.0

    def __call__(self, name: str, offset: int, size_bytes: int) -> None:
        if time.monotonic() < self._next_s and offset < size_bytes:
            return
        self._next_s = time.monotonic() + 1.0
        told = {"name": name, "offset": offset, "size_bytes": size_bytes, "at_ms": _now_ms()}
        with suppress(OSError):
            draft = self._path.with_suffix(".part")
            draft.write_text(json.dumps(told), "utf-8")
            draft.replace(self._path)


@contextmanager
def _alone(home: Home) -> Iterator[None]:
    home.collection.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(home.collection / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise HomeError("agent_errors.sending_already", folder=str(home.collection)) from error
        yield
    finally:
        os.close(handle)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
