"""An agent's home with sealed segments, and a manager in this process that they go to."""

from __future__ import annotations

import asyncio
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from agent.collection.allowance import Pace
from agent.collection.carrier import Carrier
from agent.collection.orders import Order, OrderProgress, read_progress, write_orders
from agent.collection.segment_delivery import (
    DeliveryClock,
    SegmentDelivery,
    TransferJournal,
)
from agent.collection.segment_records import SegmentRecord, SegmentRecords
from agent.collection.segment_upload import RetryPolicy, SegmentSender
from agent.collection.tus import TusClient
from agent.link.call_schedule import Backoff
from agent.link.client import ManagerClient
from shared.archive.encode import encode_capture
from shared.archive.writer import SegmentWriter
from shared.week_log import WeekLog
from tests.collection.line import BadLine
from tests.manager.archived import INFO, hold, page
from tests.manager.running import START_MS, Agent, Running

__all__ = ["HOST", "Site"]

HOST = "www.example.jp"
CHUNK = 300_000


@dataclass
class Site:
    """An agent that has collected something."""

    prsm: Running
    home: Path
    agent: Agent
    line: BadLine = field(init=False)
    said: list[str] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    may_send: bool = True

    def __post_init__(self) -> None:
        self.line = BadLine(self.prsm.public)
        self.segments.mkdir(parents=True)
        self.folder.mkdir()
        if self.agent.name == "a.example":
            hold(self.prsm, self.agent, f"http://{HOST}:80/")

    @property
    def segments(self) -> Path:
        """Return where the segments lie."""
        return self.home / "crawl" / "segments"

    @property
    def folder(self) -> Path:
        """Return where collection keeps what it knows."""
        return self.home / "collection"

    @property
    def records(self) -> SegmentRecords:
        """Return the segments and what is known of them."""
        return SegmentRecords(self.segments, self.folder)

    def collect(self, count: int = 1, *, at_ms: int = START_MS, body_bytes: int = 700_000) -> None:
        """Seal segments of one page each that no compression makes smaller."""
        for number in range(count):
            writer = SegmentWriter(
                self.segments,
                prefix="PRS",
                agent=self.agent.name,
                info=INFO,
                now_ms=lambda: at_ms,
            )
            url = f"http://{HOST}/{number}-{at_ms}.bin"
            capture = page(
                url, os.urandom(body_bytes), at_ms=at_ms, mime="application/octet-stream"
            )
            writer.append(encode_capture(capture))
            writer.seal()
            writer.close()

    def order(self, *orders: Order) -> None:
        """Let the manager ask for something."""
        write_orders(self.folder, orders)

    def carry_out(self, retries: RetryPolicy | None = None) -> dict[str, OrderProgress]:
        """Do what is due, while the manager accepts what comes; return how far orders are."""
        asyncio.run(self._carry_out(retries))
        return read_progress(self.folder)

    def carrier(self, client: ManagerClient, retries: RetryPolicy | None = None) -> Carrier:
        """Return what carries orders out, as one process has it."""

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            await asyncio.to_thread(self.prsm.manager.acceptance.accept_waiting)

        retries = retries or RetryPolicy(Backoff(1.0, 60.0), sleep=sleep)
        sender = SegmentSender(
            TusClient(client, Pace(lambda: 0)),
            chunk_bytes=CHUNK,
            may_send=lambda: self.may_send,
            retries=retries,
        )
        journal = TransferJournal(
            self.records, WeekLog(self.folder / "logs", 1e9), self.agent.name, self.said.append
        )
        delivery = SegmentDelivery(
            self.records,
            sender,
            None,
            journal,
            DeliveryClock(self.prsm.clock, sleep=sleep),
            lambda: self.may_send,
        )
        return Carrier(
            self.folder,
            delivery,
            client,
            retry_s=3600,
            now_ms=self.prsm.clock,
            log_line=self.said.append,
        )

    async def _carry_out(self, retries: RetryPolicy | None) -> None:
        async with self.client() as client:
            await self.carrier(client, retries).carry_out()

    def client(self) -> ManagerClient:
        """Return a way to the manager, over the line."""
        key = self.agent.call.headers["Authorization"].removeprefix("Bearer ")
        return ManagerClient("http://127.0.0.1", name=self.agent.name, key=key, transport=self.line)

    def states(self) -> list[str]:
        """Return what is known of each segment here."""
        return [self.records.read(name).state for name in self.records.names()]

    def held(self) -> list[SegmentRecord]:
        """Return all that is known of the segments here."""
        return [self.records.read(name) for name in self.records.names()]

    def sums(self) -> set[str]:
        """Return the SHA-256 of the segments here."""
        return {
            hashlib.sha256((self.segments / name).read_bytes()).hexdigest()
            for name in self.records.names()
        }

    def carry_out_later(self) -> str:
        """Go on when the hours are open again; return the state of the only order."""
        self.may_send = True
        self.line = BadLine(self.prsm.public)
        (progress,) = self.carry_out().values()
        return progress.state
