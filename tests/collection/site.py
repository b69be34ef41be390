"""An agent's home with sealed segments, and a manager in this process that they go to."""

from __future__ import annotations

import asyncio
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from agent.collection.carrier import Carrier
from agent.collection.holdings import Held, Holdings
from agent.collection.orders import Order, Progress, keep_orders, read_progress
from agent.collection.rate import Rate
from agent.collection.segment_upload import Patience, SegmentSender
from agent.collection.tus import TusClient
from agent.link.backoff import Backoff
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
    def holdings(self) -> Holdings:
        """Return the segments and what is known of them."""
        return Holdings(self.segments, self.folder)

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
        keep_orders(self.folder, orders)

    def carry_out(self, patience: Patience | None = None) -> dict[str, Progress]:
        """Do what is due, while the manager accepts what comes; return how far orders are."""
        asyncio.run(self._carry_out(patience))
        return read_progress(self.folder)

    def carrier(self, client: ManagerClient, patience: Patience | None = None) -> Carrier:
        """Return what carries orders out, as one process has it."""

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            await asyncio.to_thread(self.prsm.manager.acceptance.accept_waiting)

        patience = patience or Patience(Backoff(1.0, 60.0), sleep=sleep)
        sender = SegmentSender(
            TusClient(client, Rate(0)),
            chunk_bytes=CHUNK,
            may_send=lambda: self.may_send,
            patience=patience,
        )
        return Carrier(
            self.folder,
            self.holdings,
            sender,
            client,
            WeekLog(self.folder / "logs", 1e9),
            agent=self.agent.name,
            retry_s=3600,
            may_send=lambda: self.may_send,
            say=self.said.append,
            now_ms=self.prsm.clock,
            sleep=sleep,
        )

    async def _carry_out(self, patience: Patience | None) -> None:
        async with self.client() as client:
            await self.carrier(client, patience).carry_out()

    def client(self) -> ManagerClient:
        """Return a way to the manager, over the line."""
        key = self.agent.call.headers["Authorization"].removeprefix("Bearer ")
        return ManagerClient("http://127.0.0.1", name=self.agent.name, key=key, transport=self.line)

    def states(self) -> list[str]:
        """Return what is known of each segment here."""
        return [self.holdings.held(name).state for name in self.holdings.names()]

    def held(self) -> list[Held]:
        """Return all that is known of the segments here."""
        return [self.holdings.held(name) for name in self.holdings.names()]

    def sums(self) -> set[str]:
        """Return the SHA-256 of the segments here."""
        return {
            hashlib.sha256((self.segments / name).read_bytes()).hexdigest()
            for name in self.holdings.names()
        }

    def carry_out_later(self) -> str:
        """Go on when the hours are open again; return the state of the only order."""
        self.may_send = True
        self.line = BadLine(self.prsm.public)
        (progress,) = self.carry_out().values()
        return progress.state
