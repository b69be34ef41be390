"""Overlapping rounds under any order of events: starts, deadlines, moves, losses, restarts.

Invariants: no address is held by two agents at once; no line is booked to another round than its
agent made it for; no probe of a round waits for a crawl; nothing that was accepted is lost.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manager.db.engine import Database
from manager.db.tables import host_sums, units
from manager.errors import ConflictError
from manager.operations.health.consistency_checks import check
from manager.operations.ownership.unit_moves import move_unit
from manager.operations.rounds.rounds import carry_over_now, current_round, start_round
from tests.empty_database import empty_database
from tests.examples import examples
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

NAMES = ("a", "b")
OLD = "b"
"""An agent of the version before, which knows one round at a time."""

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ("start", "carry", "tick", "call", "lost", "list", "fetch", "report", "move", "reboot")
        ),
        st.integers(0, 5),
    ),
    max_size=40,
)


def step(world: World, what: str, number: int) -> None:
    """Do one thing; what is refused changes nothing."""
    name, host = NAMES[number % 2], f"h{number % 3}.jp"
    agent = world.agents[name]
    try:
        if what == "start":
            start_round(world.db, "prices", ADMIN, world.now_ms, policy=world.policy)
        elif what == "carry":
            carry_over_now(world.db, ADMIN, world.now_ms)
        elif what == "move":
            move_unit(world.db, host, name, "", ADMIN, world.now_ms)
        elif what == "tick":
            world.wait(world.policy.tick_s)
            world.tick()
        elif what == "list":
            world.take_list(name)
        elif what == "reboot":
            agent.reboot()
        elif what == "report":
            world.report(name)
        elif what == "fetch":
            for unit in sorted(agent.fetchable(world.true_ms))[:1]:
                world.fetch(name, unit)
        elif what == "lost":
            world.sync(name, answer_lost=True)
        else:
            world.call(name)
    except ConflictError:
        assert what in ("start", "carry", "move")


def booked(database: Database) -> Counter[tuple[str, int]]:
    """Return how many crawls of (unit, round) the sums hold: each is of 100 KBytes."""
    query = sa.select(units.c.key, host_sums.c.round, host_sums.c.response_bytes)
    with database.read() as tx:
        rows = tx.tuples(
            query.join(units, units.c.id == host_sums.c.unit_id).where(host_sums.c.kind == "crawl")
        )
    found: Counter[tuple[str, int]] = Counter()
    for unit, number, size_bytes in rows:
        found[unit, number] += size_bytes // 100_000
    return found


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_any_order_of_events_keeps_the_invariants(steps: list[tuple[str, int]]) -> None:
    """Whatever happens, all rounds end, and each has what was made for it."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        path = Path(folder) / "prsm.sqlite"
        path.write_bytes(empty_database())
        database = Database(f"sqlite:///{path}")
        stack.callback(database.close)
        world = World(database)
        world.join(*NAMES)
        world.agents["a"].unit_rounds = True
        world.hosts("h0.jp", "h1.jp", "h2.jp")
        for what, number in steps:
            step(world, what, number)
            world.check_exclusive()
        world.run()
        assert current_round(database) is None
        assert booked(database) == world.crawled
        assert check(database) == []
