"""What a round waits for is named: the host, the agent and the reason."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from manager.db import tables
from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.hosts import host_shares, hosts
from manager.errors import NotFoundError
from manager.operations.hosts.hosts import import_hosts
from manager.operations.rounds.round_holders import HolderReason, RoundHolders, holders_of
from manager.operations.rounds.rounds import cancel_round, current_round, start_round
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.world import ADMIN, World

HOSTS = ("h1.jp", "h2.jp", "h3.jp")
UNITS = {f"http://{name}:80/" for name in HOSTS}


def begun(database: Database, *names: str) -> World:
    """Return a world whose first round probes: a person ordered it."""
    world = World(database)
    world.join(*names)
    world.hosts(*HOSTS)
    world.order_probes(*HOSTS)
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.tick()
    for name in names:
        world.call(name)
    return world


def crawled(database: Database, *names: str) -> World:
    """Return a world whose first round is about to crawl, with units given out."""
    world = begun(database, *names)
    for _ in range(20):
        row = current_round(database)
        assert row is not None
        if row.state == "crawling":
            break
        for name in names:
            world.work(name)
            world.call(name)
        world.wait(world.policy.tick_s)
        world.tick()
    world.tick()
    for name in names:
        world.call(name)
    return world


def held(world: World, limit: int = 20) -> RoundHolders:
    return holders_of(world.db, 1, world.policy, world.now_ms, limit)


def test_probes_that_are_not_done_hold_a_round(database: Database) -> None:
    """Each is named with its agent; what was measured waits for its log, then for the plan."""
    world = begun(database, "a")
    found = held(world)
    assert found.total == 3
    assert {(one.unit, one.agent, one.reason) for one in found.holders} == {
        (unit, "a", HolderReason.PROBING) for unit in UNITS
    }
    assert held(world, limit=1).total == 3
    assert len(held(world, limit=1).holders) == 1
    world.fetch("a", "http://h1.jp:80/")
    world.call("a")
    told = {one.unit: one.reason for one in held(world).holders}
    assert told["http://h1.jp:80/"] is HolderReason.LOG_AWAITED
    world.work("a")
    world.call("a")
    assert [one.reason for one in held(world).holders] == [HolderReason.PLAN]


def test_units_that_are_not_finished_hold_a_round(database: Database) -> None:
    """They are named with their agents, and since when those have them; what is finished is not."""
    world = crawled(database, "a")
    assert {one.unit for one in held(world).holders} == UNITS
    assert {one.reason for one in held(world).holders} == {HolderReason.FETCHING}
    assert all(one.since_ms for one in held(world).holders)
    world.fetch("a", "http://h2.jp:80/")
    world.call("a")
    assert {one.unit for one in held(world).holders} == UNITS - {"http://h2.jp:80/"}


def test_a_log_that_has_not_come_holds_a_round(database: Database) -> None:
    """Its agent is named, and nothing once the round is over."""
    world = crawled(database, "a")
    for unit in UNITS:
        world.fetch("a", unit)
    world.sync("a")
    found = held(world)
    assert [(one.reason, one.unit, one.agent) for one in found.holders] == [
        (HolderReason.LOG_AWAITED, "", "a")
    ]
    world.run()
    assert current_round(database) is None
    assert held(world) == RoundHolders(0, [])


def test_hosts_that_were_found_in_a_round_hold_it(database: Database) -> None:
    """First until their names were looked up, then until an agent has them."""
    world = crawled(database, "a")
    found = [(1, "http://new.jp/", None)]
    record_discovered(database, world.agents["a"].identity, found, world.now_ms, world.policy)
    reasons = {one.unit: one.reason for one in held(world).holders}
    assert reasons["http://new.jp:80/"] is HolderReason.UNRESOLVED
    world.resolve()
    reasons = {one.unit: one.reason for one in held(world).holders}
    assert reasons["http://new.jp:80/"] is not HolderReason.UNRESOLVED


def test_a_host_that_asked_for_a_rest_is_named_with_its_word(database: Database) -> None:
    """The time at which it may be asked again is told until it has come."""
    world = crawled(database, "a")
    until_ms = world.now_ms + 3_600_000
    with database.write() as tx:
        agent = agents.by_name(tx, "a")
        host = hosts.by_key(tx, "http://h1.jp:80/")
        assert agent is not None
        assert host is not None
        row = host_shares.BackoffRow(host.id, agent.id, 60_000, until_ms, "Retry-After: 3600")
        host_shares.set_backoff(tx, row)
    told = {one.unit: one for one in held(world).holders}
    resting = told["http://h1.jp:80/"]
    assert (resting.reason, resting.until_ms, resting.why) == (
        HolderReason.RESTING, until_ms, "Retry-After: 3600",
    )  # fmt: skip
    world.wait(3601)
    told = {one.unit: one for one in held(world).holders}
    assert told["http://h1.jp:80/"].reason is HolderReason.LOST, "its agent did not call meanwhile"


def test_what_is_held_longest_comes_first(database: Database) -> None:
    """What an agent has had for hours is what a person looks for."""
    world = crawled(database, "a")
    world.wait(600)
    import_hosts(database, [(1, "late.jp")], ADMIN, world.now_ms, world.policy)
    world.resolve()
    for _ in range(5):
        world.wait(world.policy.tick_s)
        world.tick()
        world.call("a")
    found = [one for one in held(world).holders if one.reason is HolderReason.FETCHING]
    times = [one.since_ms or 0 for one in found]
    assert times == sorted(times)
    assert held(world).holders[0].unit in UNITS


def test_of_many_open_units_those_held_longest_come_first(database: Database) -> None:
    """However many are open: a person looks for what an agent has had for hours."""
    world = crawled(database, "a")
    many = 10_100
    with database.write() as tx:
        agent = agents.by_name(tx, "a")
        assert agent is not None
        host = tx.execute(sa.select(tables.hosts.c.id, tables.hosts.c.group_id)).first()
        assert host is not None
        first = 1_000
        numbers = range(first, first + many)
        tx.execute(
            sa.insert(tables.units),
            [
                {"id": one, "host_id": host.id, "path": f"/{one}/", "key": f"k{one}",
                 "state": "placed"}
                for one in numbers
            ],
        )  # fmt: skip
        tx.execute(
            sa.insert(tables.unit_rounds),
            [
                {"round": 1, "unit_id": one, "agent_id": agent.id, "state": "granted"}
                for one in numbers
            ],
        )
        tx.execute(
            sa.insert(tables.rights),
            [
                {"unit_id": one, "group_id": host.group_id, "agent_id": agent.id, "kind": "crawl",
                 "granted_ms": 2_000_000 - one}
                for one in numbers
            ],
        )  # fmt: skip
    found = held(world, limit=3)
    assert found.total == many + len(HOSTS)
    last = first + many - 1
    assert [one.unit for one in found.holders] == [f"k{last}", f"k{last - 1}", f"k{last - 2}"]


def test_a_round_that_is_over_or_none_is_held_by_nothing(database: Database) -> None:
    """A cancelled one neither."""
    world = begun(database, "a")
    cancel_round(database, ADMIN, world.now_ms)
    assert held(world) == RoundHolders(0, [])
    with pytest.raises(NotFoundError, match="round 9: not found"):
        holders_of(database, 9, world.policy, world.now_ms)


def test_an_agent_that_does_not_work_is_the_reason(database: Database) -> None:
    """Paused by a person; asleep until a moment; late, until others take its units."""
    world = crawled(database, "a", "b")
    own = {one.agent for one in held(world).holders}
    assert own == {"a", "b"}
    number = world.agents["a"].identity.id

    def of_a() -> set[tuple[HolderReason, int | None]]:
        return {(one.reason, one.until_ms) for one in held(world).holders if one.agent == "a"}

    assert of_a() == {(HolderReason.FETCHING, None)}
    until_ms = world.now_ms + 3_600_000
    for state, reason, until in (
        ("paused", HolderReason.PAUSED, None),
        ("asleep", HolderReason.ASLEEP, until_ms),
    ):
        with database.write() as tx:
            agents.update(tx, number, state=state, promised_ms=until_ms, permit_until_ms=until_ms)
        assert of_a() == {(reason, until)}
    with database.write() as tx:
        agents.update(tx, number, state="running", promised_ms=world.now_ms)
    world.wait(world.policy.grace_s + 1)
    ((reason, lost_ms),) = of_a()
    assert reason is HolderReason.LATE
    assert lost_ms is not None
    assert lost_ms >= until_ms
    others = {one.reason for one in held(world).holders if one.agent == "b"}
    assert HolderReason.PAUSED not in others
