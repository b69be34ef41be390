"""Overlapping rounds under any order of events: starts, deadlines, moves, splits, losses, restores.

Invariants: no address is held by two agents at once; no line is booked to another round than its
agent made it for; no probe of a round waits for a crawl; nothing that was accepted is lost.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manager.db.engine import Database
from manager.db.hosts import directories
from manager.db.hosts.directories import DirectoryRow
from manager.db.hosts.host_splits import SplitAction
from manager.db.rounds import tick_clock
from manager.db.tables import host_sums, units
from manager.errors import ConflictError
from manager.operations.actor import CLOCK
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_merge import merge_host
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.splits.orders import order_change
from manager.operations.logs.log_entry import known_report
from manager.operations.ownership.unit_moves import move_unit
from manager.operations.rounds.predicted_plan import use_predictions
from manager.operations.rounds.rounds import (
    cancel_round,
    carry_over_now,
    current_round,
    list_rounds,
    start_round,
)
from tests.empty_database import empty_database
from tests.examples import examples
from tests.manager.operations.restored import restored, rows_of
from tests.manager.operations.world import ADMIN, POLICY, World

pytestmark = pytest.mark.scenario

NAMES = ("a", "b", "c")
"""Of these b is of the version before, which knows one round at a time."""
HOSTS = ("h0.jp", "h1.jp", "h2.jp", "h3.jp")
"""The last two have one address; the first is split."""
BIG = "http://h0.jp:80/"
KBYTES = 100
"""Of each crawl and each piece."""

USUAL = ("start", "carry", "tick", "call", "lost", "list", "fetch", "report", "unheard", "move")
RARE = (
    *("reboot", "split", "merge", "order", "cancel", "predict", "keep", "restore", "new disk"),
    "finish",
)
STEPS = st.lists(
    st.tuples(st.sampled_from((*USUAL, *USUAL, *RARE)), st.integers(0, 11)), max_size=50
)


@dataclass
class Story:
    """A world, its last backup, and what the sums must hold beside what is crawled from now on."""

    world: World
    kept: dict[str, list[bytes]] | None = None
    base: Counter[tuple[str, int]] = field(default_factory=Counter)

    def step(self, what: str, number: int) -> None:
        """Do one thing; what is refused changes nothing."""
        world = self.world
        name, host = NAMES[number % 3], HOSTS[number % 4]
        try:
            if what == "start":
                start_round(world.db, "prices", ADMIN, world.now_ms, policy=world.policy)
            elif what == "carry":
                carry_over_now(world.db, ADMIN, world.now_ms)
            elif what == "cancel":
                cancel_round(world.db, ADMIN, world.now_ms)
            elif what == "predict":
                use_predictions(world.db, ADMIN, world.now_ms)
            elif what == "move":
                move_unit(world.db, host, name, "", ADMIN, world.now_ms)
            elif what == "split":
                self.split()
            elif what == "merge":
                merge_host(world.db, BIG, ADMIN, world.now_ms)
            elif what == "order":
                action: SplitAction = "merge" if number % 2 else "split"
                actor = CLOCK if number % 3 else ADMIN
                order_change(world.db, BIG, action, actor, world.now_ms, 0, 5.0)
            else:
                self.act(what, name, number)
        except ConflictError:
            assert what in ("start", "carry", "cancel", "predict", "move", "split", "merge")

    def act(self, what: str, name: str, number: int) -> None:
        """Let time pass, or an agent act, or the database be restored."""
        world, agent = self.world, self.world.agents[name]
        if what == "tick":
            world.wait(world.policy.tick_s)
            world.tick()
        elif what == "finish":
            self.settle()
            world.run()
        elif what == "list":
            world.take_list(name)
        elif what == "reboot":
            agent.reboot()
        elif what == "new disk":
            self.base.subtract(pending(world, name))
            agent.lose_disk()
        elif what == "report":
            world.report(name)
        elif what == "unheard":
            world.report_unheard(name)
        elif what == "fetch":
            for unit in sorted(agent.fetchable(world.true_ms))[number // 3 :][:1]:
                world.fetch(name, unit, KBYTES)
        elif what == "lost":
            world.sync(name, answer_lost=True)
        elif what == "keep":
            self.kept = rows_of(world.db)
        elif what == "restore":
            self.restore()
        else:
            world.call(name)

    def split(self) -> None:
        """Split a host that was crawled, by directories that its logs told of."""
        detail = host_detail(self.world.db, BIG)
        with self.world.db.write() as tx:
            newest = tx.value(
                sa.select(sa.func.max(host_sums.c.round))
                .join(units, units.c.id == host_sums.c.unit_id)
                .where(units.c.key == BIG, host_sums.c.kind == "crawl")
            )
            if newest is not None and directories.newest_round(tx, detail.host.id) is None:
                agent = self.world.agents["a"].identity.id
                rows = [_directory(agent, detail.host.id, newest, name) for name in "xyz"]
                directories.add(tx, agent, rows)
        split_host(self.world.db, BIG, ADMIN, self.world.now_ms, policy=self.world.policy)

    def restore(self) -> None:
        """Put the last backup back: what was accepted since is gone, what agents have is not."""
        if self.kept is None:
            return
        restored(self.world, self.kept)
        self.base = booked(self.world.db)
        for name in NAMES:
            self.base.update(pending(self.world, name))
        self.world.crawled.clear()

    def settle(self) -> None:
        """Wait until rights may be given after a restore."""
        world = self.world
        for _ in range(100):
            with world.db.read() as tx:
                if tick_clock.held_until(tx) <= world.now_ms:
                    return
            world.wait(30)
            world.tick()
            for name in NAMES:
                world.call(name)
        raise AssertionError("still held after a restore")

    def probe(self) -> None:
        """Let agents probe and crawl nothing, until no round probes any more."""
        world = self.world
        for _ in range(80):
            if all(row.state != "probing" for row in list_rounds(world.db)):
                return
            world.wait(world.policy.tick_s)
            world.tick()
            for name in NAMES:
                world.call(name)
                for unit, work in sorted(world.agents[name].fetchable(world.true_ms).items()):
                    if work.max_transfer and not work.only:
                        world.fetch(name, unit, KBYTES)
                world.report(name)
                world.call(name)
                world.check_exclusive()
        raise AssertionError("a probe waits behind a crawl")

    def made(self) -> Counter[tuple[str, int]]:
        """Return how many crawls of (unit, round) the sums must hold."""
        made = Counter(self.base)
        made.update(self.world.crawled)
        return Counter({key: count for key, count in made.items() if count})


def _directory(agent_id: int, host_id: int, number: int, name: str) -> DirectoryRow:
    return DirectoryRow(
        agent_id,
        host_id,
        path=f"/{name}/",
        round=number,
        kind="crawl",
        requests=400,
        pages=400,
        errors=0,
        request_bytes=0,
        response_bytes=400_000,
        ms=50,
    )


def pending(world: World, name: str) -> Counter[tuple[str, int]]:
    """Return how many crawls of (unit, round) an agent has in logs that were not accepted."""
    agent = world.agents[name]
    sums = list(agent.lines)
    for log in agent.outbox:
        if known_report(world.db, agent.identity, log.sha256, log.name) is None:
            sums += log.units
    found: Counter[tuple[str, int]] = Counter()
    for one in sums:
        if one.kind == "crawl":
            found[one.unit, one.round] += one.response_bytes // (KBYTES * 1000)
    return found


def booked(database: Database) -> Counter[tuple[str, int]]:
    """Return how many crawls of (unit, round) the sums hold."""
    query = sa.select(units.c.key, host_sums.c.round, host_sums.c.response_bytes)
    with database.read() as tx:
        rows = tx.tuples(
            query.join(units, units.c.id == host_sums.c.unit_id).where(host_sums.c.kind == "crawl")
        )
    found: Counter[tuple[str, int]] = Counter()
    for unit, number, size_bytes in rows:
        found[unit, number] += size_bytes // (KBYTES * 1000)
    return found


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_any_order_of_events_keeps_the_invariants(steps: list[tuple[str, int]]) -> None:
    """Whatever happens, no probe waits for a crawl, all rounds end, and each has its own lines."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        path = Path(folder) / "prsm.sqlite"
        path.write_bytes(empty_database())
        database = Database(f"sqlite:///{path}")
        stack.callback(database.close)
        world = World(database, replace(POLICY, min_refetch_pages=4))
        world.join(*NAMES)
        for name in NAMES:
            world.agents[name].unit_rounds = name != "b"
            world.agents[name].refetches = True
        world.hosts(*HOSTS[:2])
        world.hosts(*HOSTS[2:], address="203.0.113.9")
        story = Story(world)
        for what, number in steps:
            story.step(what, number)
            world.check_exclusive()
        story.settle()
        story.probe()
        world.run()
        assert current_round(database) is None
        assert booked(database) == story.made()
        assert check(database) == []
