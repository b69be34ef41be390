"""Owners of units that are placed between two plans: near ones, with which no crawl ends later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.hosts import hosts
from manager.db.measurement import measurements
from manager.db.measurement.measurements import DistanceRow
from manager.operations.planning.cheapest_owners import cheapest_owners
from manager.operations.policy import Policy
from tests.manager.operations.slow_host import size_host
from tests.manager.operations.world import World

pytestmark = pytest.mark.scenario

HOSTS = tuple(f"h{number}.jp" for number in range(6))
NEAR_MS, FAR_MS = 60, 100


def measured(database: Database, pages: int) -> World:
    """Return a world in which agent a is nearer to all hosts than b and c."""
    world = World(database)
    world.join("a", "b", "c")
    world.hosts(*HOSTS)
    for name in HOSTS:
        size_host(database, f"http://{name}:80/", pages, [], world.now_ms)
    with database.write() as tx:
        for unit in hosts.units_of_hosts(tx, [f"http://{name}:80/" for name in HOSTS]):
            for name, agent in world.agents.items():
                speed = NEAR_MS if name == "a" else FAR_MS
                number = agent.identity.id
                row = DistanceRow(
                    unit.id, number, world.now_ms, 1, "crawl",
                    lines=50, bytes=50_000, ms=50 * speed, ms_per_kb=float(speed),
                )  # fmt: skip
                measurements.set_distances(tx, [row])
    return world


def owners_of(world: World, policy: Policy | None = None, **loads: float) -> Mapping[str, int]:
    """Return how many hosts each agent gets. loads: ms of what some own already."""
    with world.db.write() as tx:
        for name, load_ms in loads.items():
            agents.update(tx, world.agents[name].identity.id, load_ms=load_ms)
        names = agents.names(tx)
        units = [one.id for one in hosts.units_of_hosts(tx, [f"http://{x}:80/" for x in HOSTS])]
        found, added = cheapest_owners(
            tx, agents.all_agents(tx), units, policy or world.policy, world.now_ms
        )
    assert set(found) == set(units)
    assert all(ms > 0 for ms in added.values())
    return Counter(names[agent] for agent in found.values())


def test_the_nearest_agent_takes_what_it_can_fetch_in_time(database: Database) -> None:
    """Politeness decides the end: with many hosts at a time the nearest agent has time for all."""
    world = measured(database, 100)
    assert owners_of(world) == {"a": 6}
    # The source's objective spreads the transfer.
    transfer = owners_of(world, replace(world.policy, plan_by_transfer=True))
    assert transfer["b"] + transfer["c"] > 0
    # It has so much to do that the crawl would end later.
    assert owners_of(world, a=1e12) == {"b": 3, "c": 3}


def test_an_agent_that_a_person_paused_gets_what_no_other_may_have(database: Database) -> None:
    """It is the nearest, but its hosts would wait until somebody resumes it."""
    world = measured(database, 100)
    with world.db.write() as tx:
        agents.update(tx, world.agents["a"].identity.id, state="paused")
    assert owners_of(world) == {"b": 3, "c": 3}
    with world.db.write() as tx:
        for name in "bc":
            agents.update(tx, world.agents[name].identity.id, state="draining")
    assert owners_of(world) == {"a": 6}
