"""What agents say that they may do is kept, and plans give by it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from manager.db.engine import Database
from manager.db.ownership import rights
from manager.operations.fleet.agents import agent_detail
from manager.operations.ownership.agent_capacity import capacity_of
from manager.operations.planning.plans import make_plan, plan_detail
from manager.operations.rounds.rounds import start_round
from shared.wire.sync import Capacity, DayHours
from tests.manager.operations.syncs import sync
from tests.manager.operations.world import ADMIN, POLICY, World

NIGHT = Capacity(weekday=((120, 480),), weekend=((120, 480),), zone="Asia/Tokyo", parallel_hosts=50)


class Even(World):
    """Every host is as near to every agent."""

    def distance(self, name: str, unit: str) -> float:
        return 2.0


def tell(world: World, name: str, capacity: Capacity | None, free: int | None = None) -> None:
    """Let an agent say in a sync what it may do."""
    request = replace(world.request(name), capacity=capacity, disk_free_bytes=free)
    sync(world.db, world.agents[name].identity, request, world.now_ms, world.policy)


def test_what_an_agent_says_is_kept(database: Database) -> None:
    """Until it says something else; one that never said has the defaults."""
    world = World(database)
    world.join("a", "b")
    tell(world, "a", NIGHT, free=5_000_000_000)
    tell(world, "a", None, free=5_000_000_000)
    said = capacity_of(agent_detail(database, "a", world.now_ms).view.row)
    assert (said.connections, said.interval_ms, said.burst) == (50, 20_000, 1)
    assert said.hours.open_share() == 0.25
    assert said.room_kb == 5_000_000
    silent = capacity_of(agent_detail(database, "b", world.now_ms).view.row)
    assert (silent.connections, silent.hours.open_share(), silent.room_kb) == (200, 1, None)


@pytest.mark.parametrize("zone", ["Nowhere/Land", "../../etc/passwd", "", "/", "\x00"])
def test_a_zone_that_is_none_is_utc(database: Database, zone: str) -> None:
    """What an agent says is not to be trusted: no path, no error."""
    world = World(database)
    world.join("a")
    tell(world, "a", replace(NIGHT, zone=zone))
    said = capacity_of(agent_detail(database, "a", world.now_ms).view.row)
    assert said.hours.open_share() == 0.25
    assert str(said.hours.zone) == "UTC"


def test_a_plan_gives_by_capacity_and_says_how_long_it_takes(database: Database) -> None:
    """An agent with a sixteenth of the capacity gets about so much, and its costs are dearer."""
    world = Even(database)
    world.join("day", "night")
    tell(world, "night", NIGHT)
    world.hosts(*(f"h{n}.jp" for n in range(34)))
    start_round(database, "random", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    tell(world, "night", NIGHT)
    plan_id = make_plan(database, "prices", ADMIN, world.now_ms)
    agents = {one["name"]: one for one in plan_detail(database, plan_id).agents}
    assert agents["night"]["capacity"] == 1 / 16
    assert agents["day"]["capacity"] == 1
    assert agents["night"]["units_after"] == 2
    assert agents["day"]["units_after"] == 32
    # A rest of 20 s, then robots.txt and 100 pages of a fast host, 10 s apart, and 200 ms of
    # transfer: no agent ends before its longest host.
    assert agents["day"]["work_ms"] == 20_000 + 100 * 10_000 + 200
    assert agents["day"]["elapsed_ms"] == agents["day"]["work_ms"]
    assert agents["night"]["work_ms"] == agents["day"]["work_ms"]
    assert agents["night"]["elapsed_ms"] >= agents["night"]["work_ms"]


def test_a_plan_warns_of_a_disk_that_is_too_small(database: Database) -> None:
    """Where even one agent's whole volume does not fit, the explanation says so."""
    world = Even(database)
    world.join("a")
    tell(world, "a", Capacity(), free=100_000)
    world.hosts("h1.jp", "h2.jp")
    start_round(database, "random", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    tell(world, "a", Capacity(), free=100_000)
    plan_id = make_plan(database, "keep", ADMIN, world.now_ms)
    said = " ".join(map(str, plan_detail(database, plan_id).explanation))
    assert "a would collect 200 KB, more than its disk holds" in said


def test_an_agent_has_probes_for_twice_its_parallel_hosts(database: Database) -> None:
    """What it has, nobody else can probe; but never less than a few, for small hosts go fast."""
    world = World(database, replace(POLICY, parallel_probes=400))
    world.join("narrow", "wide")
    tell(world, "narrow", replace(NIGHT, parallel_hosts=3))
    tell(world, "wide", replace(NIGHT, parallel_hosts=25))
    world.hosts(*(f"h{number}.jp" for number in range(100)))
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    world.tick()
    with database.read() as tx:
        had = {
            name: rights.count_of(tx, world.agents[name].identity.id, "probe")
            for name in ("narrow", "wide")
        }
    assert had == {"narrow": 20, "wide": 50}


def test_days_of_their_own_are_kept(database: Database) -> None:
    """Fridays and holidays count in what a plan says by the clock; what is no day is skipped."""
    world = World(database)
    world.join("a")
    days = (
        DayHours(day="fri", hours=()),
        DayHours(day="2026-12-29", hours=((0, 1440),)),
        DayHours(day="someday", hours=((0, 1440),)),
    )
    tell(world, "a", replace(NIGHT, days=days))
    said = capacity_of(agent_detail(database, "a", world.now_ms).view.row)
    assert said.hours.open_share() == pytest.approx(6 * 6 / (7 * 24))
    assert said.hours.dates == {date(2026, 12, 29): ((0, 1440),)}
