"""A story of three rounds that can be killed at any SQL statement and told on from there.

The manager is what is killed. The agents live on: before each call to the manager their state is
written down, as theirs is on their own disks.
"""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from manager.db.engine import Database
from manager.operations.fleet.contact import subscribe, unsubscribe
from manager.operations.hosts.hosts import exclude_host
from manager.operations.rounds.rounds import list_rounds, start_round
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.world import ADMIN, World

KILLED = 77
HOSTS = ("h1.jp", "h2.jp", "h3.jp", "h4.jp")


class LastingWorld(World):
    """A world whose agents and time outlive the manager."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Database(f"sqlite:///{folder}/db"))

        @sa.event.listens_for(self.db.engine, "connect")
        def hurry(connection: Any, _record: object) -> None:
            # A process is killed here, not a machine: what it wrote is with the kernel.
            connection.execute("PRAGMA synchronous = OFF")

        self.diary = folder / "agents"
        self.stage = 0
        if self.diary.exists():
            kept = pickle.loads(self.diary.read_bytes())
            self.agents, self.true_ms, self.address, self.stage = kept

    def before_call(self) -> None:
        """Write the agents down."""
        new = self.diary.with_suffix(".new")
        new.write_bytes(pickle.dumps((self.agents, self.true_ms, self.address, self.stage)))
        new.replace(self.diary)


def tell(world: LastingWorld) -> None:
    """Tell the story from where it was left."""
    for number, part in enumerate((_begin, _first_round, _changes, _second_round, _third_round)):
        if world.stage <= number:
            part(world)
            world.stage = number + 1
            world.before_call()


def _begin(world: LastingWorld) -> None:
    for name in ("a", "b", "c"):
        if name not in world.agents:
            world.join(name)
    world.hosts(*HOSTS[:2], address="203.0.113.9")
    world.hosts(*HOSTS[2:])


def _first_round(world: LastingWorld) -> None:
    if not list_rounds(world.db):
        start_round(world.db, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.run()


def _changes(world: LastingWorld) -> None:
    found = [(1, "http://new.jp/", "http://h1.jp/"), (2, "http://h4.jp/~koji/x.html", None)]
    record_discovered(world.db, world.agents["a"].identity, found, world.now_ms)
    exclude_host(world.db, "h3.jp", "asked to", ADMIN, world.now_ms)
    world.resolve()


def _second_round(world: LastingWorld) -> None:
    """One agent falls silent; the others take its units over."""
    if len(list_rounds(world.db)) < 2:
        start_round(world.db, "random", ADMIN, world.now_ms, seed=2, policy=world.policy)
    for _ in range(20):
        world.wait(40)
        world.tick()
        for name in ("a", "b"):
            world.call(name)
            world.work(name)
    world.run(names=("a", "b"))


def _third_round(world: LastingWorld) -> None:
    """It comes back, another leaves."""
    world.call("c")
    subscribe(world.db, world.agents["c"].identity, world.now_ms)
    if len(list_rounds(world.db)) < 3:
        start_round(world.db, "tree", ADMIN, world.now_ms, probe=False, policy=world.policy)
    leaver = world.agents["b"]
    leaver.permit_until_ms, leaver.held, leaver.listed = 0, 0, {}
    world.before_call()
    unsubscribe(world.db, leaver.identity, world.now_ms, world.policy)
    world.run(names=("a", "c"))


def count_statements(engine: sa.Engine, kill_at: int = 0) -> list[int]:
    """Count statements and commits from now on; at one of them end the process at once."""
    counted = [0]

    def count(*_: Any) -> None:
        counted[0] += 1
        if counted[0] == kill_at:
            os._exit(KILLED)

    sa.event.listen(engine, "before_cursor_execute", count)
    sa.event.listen(engine, "commit", count)
    return counted


def child(folder: str, kill_at: int) -> None:
    """Tell the story in a process of its own and die in it."""
    world = LastingWorld(Path(folder))
    count_statements(world.db.engine, kill_at)
    tell(world)
