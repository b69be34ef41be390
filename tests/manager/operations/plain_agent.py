"""A plain agent whose pages are counted: what it has fetched, logged and sent, by a true clock."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

from manager.db.engine import Database
from manager.operations.fleet.contact import note_message
from manager.operations.fleet.server_lists import current_list
from manager.operations.logs.log_entry import accept_log
from manager.operations.logs.log_summary import FinishedUnit, LogSummary
from manager.operations.policy import Policy
from manager.operations.rounds.rounds import start_round
from shared.wire.orders import ListHead, orders
from tests.manager.log_sums import unit_sum
from tests.manager.operations.world import ADMIN, POLICY, World

HOUR_S = 3600


@dataclass
class CountingAgent:
    """An agent `p` in a world of its own; `pages`: how many each unit has in truth.

    comments: it writes `#Finished=` behind the last line of a unit.
    """

    world: World
    pages: dict[str, int]
    comments: bool
    listed: set[str] = field(default_factory=set)
    fetched: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    said: set[str] = field(default_factory=set)
    outbox: list[LogSummary] = field(default_factory=list)
    opened_ms: int = 0

    def ask_list(self) -> None:
        """Send M1 and work from the answer."""
        world = self.world
        version = current_list(world.db, world.agents["p"].identity, world.now_ms, world.policy)
        self.listed = {item.url for item in orders(version.lines) if not isinstance(item, ListHead)}

    def left(self, unit: str) -> int:
        """Return how many pages of a unit were not fetched yet."""
        return self.pages[unit] - self.fetched[unit]

    def fetch(self, unit: str, count: int = 1) -> None:
        """Fetch some pages of a unit that is on the list, as far as there are any."""
        count = min(count, self.left(unit)) if unit in self.listed else 0
        if count <= 0:
            return
        self.fetched[unit] += count
        self.lines[unit] += count
        if self.comments and not self.left(unit):
            self.said.add(unit)

    def close_log(self) -> None:
        """Put what was fetched into the outbox."""
        now_ms = self.world.now_ms
        minute = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y%m%d%H%M")
        units = tuple(
            unit_sum(unit, 1, "crawl", count, 1000 * count, 50 * count)
            for unit, count in sorted(self.lines.items())
        )
        self.outbox.append(
            LogSummary(
                name=f"p.{minute}",
                sha256=hashlib.sha256(minute.encode()).hexdigest(),
                size_bytes=1,
                lines=sum(self.lines.values()),
                quarantined=0,
                since_ms=self.opened_ms,
                until_ms=now_ms,
                path="",
                units=units,
                finished=tuple(FinishedUnit(unit, 1, "crawl") for unit in sorted(self.said)),
                says_finished=self.comments,
            )
        )
        self.lines.clear()
        self.said.clear()
        self.opened_ms = now_ms

    def send(self) -> None:
        """Send what is in the outbox, oldest first; a log that says no time ends when it comes."""
        world = self.world
        identity = world.agents["p"].identity
        for one in self.outbox:
            note_message(world.db, identity, "submitlog", world.now_ms, world.policy)
            accept_log(world.db, identity, one, world.now_ms, world.policy)
        self.outbox.clear()

    def wait(self, seconds: float) -> None:
        """Let time pass, with the manager's tick at its end."""
        self.world.wait(seconds)
        self.world.tick()


def counting_agent(
    database: Database, pages: dict[str, int], *, comments: bool, policy: Policy = POLICY
) -> CountingAgent:
    """Return an agent that was given all of some hosts to crawl; it has no list yet."""
    world = World(database, policy)
    world.join("p", kind="plain")
    note_message(database, world.agents["p"].identity, "subscribe", world.now_ms, world.policy)
    world.hosts(*pages)
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    made = CountingAgent(
        world, {f"http://{host}:80/": count for host, count in pages.items()}, comments
    )
    made.opened_ms = world.now_ms
    return made
