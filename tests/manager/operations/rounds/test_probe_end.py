"""The last few probes of a step stop neither the next step nor, at any price, the crawl."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.db.planning.probe_progress import is_nearly_done
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import host_detail
from manager.operations.people.audit_log import AuditRow, audit_page
from manager.operations.rounds.rounds import round_detail, start_round
from tests.manager.operations.kept_worlds import kept_world
from tests.manager.operations.world import ADMIN, POLICY, World

pytestmark = pytest.mark.scenario

NAMES = ("a", "b", "c", "d", "e", "f")
HOSTS = tuple(f"h{n}.jp" for n in range(24))
SLOW = "http://h7.jp:80/"


@kept_world
def probing(database: Database) -> World:
    """Return a world of six agents that shall probe each host from two places."""
    world = World(database, replace(POLICY, max_full_probe_pairs=10, probes_per_host=2))
    for number, name in enumerate(NAMES):
        world.join(name, speed=1.0 if number else 0.2)
    world.hosts(*HOSTS)
    start_round(database, "default", ADMIN, world.now_ms, policy=world.policy)
    return world


def turn_but_slow(world: World, *away: str) -> None:
    """Let a minute pass in which everything ends but what the slow host is asked."""
    world.wait(60)
    world.tick()
    for name, agent in world.agents.items():
        if name in away:
            continue
        world.call(name)
        for unit in sorted(agent.fetchable(world.true_ms)):
            if unit != SLOW:
                world.fetch(name, unit)
        world.report(name)
        world.call(name)


def until(world: World, done: Callable[[], bool], *away: str) -> int:
    for turn in range(60):
        if done():
            return turn
        turn_but_slow(world, *away)
    raise AssertionError("it never came so far")


def audited(world: World, action: str) -> list[AuditRow]:
    return list(audit_page(world.db, action=action))


def holder(world: World) -> str:
    (name,) = [name for name, one in world.agents.items() if SLOW in one.fetchable(world.true_ms)]
    return name


def test_the_next_step_does_not_wait_for_one_slow_host(database: Database) -> None:
    """More probes are ordered while it is probed; of it none, before its own are done."""
    world = probing(database)
    until(world, lambda: bool(audited(world, "round.order-probes")))
    assert round_detail(database, 1).round.state == "probing"
    slow = host_detail(database, "h7.jp")
    assert {order.state for order in slow.orders} <= {"waiting", "granted"}
    assert len(slow.orders) == 2
    more = [host for host in HOSTS if len(host_detail(database, host).orders) > 2]
    assert more
    world.run()
    assert round_detail(database, 1).round.state == "finished"
    assert audited(world, "round.give-up-probes") == []
    assert check(database) == []


def test_the_crawl_waits_for_the_last_probes_as_long_again_as_for_all_others(
    database: Database,
) -> None:
    """Then they are given up by the clock, and the host goes to an agent as it is predicted."""
    world = probing(database)
    began_ms = world.now_ms
    until(world, lambda: bool(audited(world, "round.give-up-probes")))
    (entry,) = audited(world, "round.give-up-probes")
    assert entry.actor_kind == "clock"
    orders = round_detail(database, 1).orders
    ended_ms = max(
        order.finished_ms
        for host in HOSTS
        for order in host_detail(database, host).orders
        if order.finished_ms is not None
    )
    assert world.now_ms - ended_ms >= 0.5 * (ended_ms - began_ms)
    assert orders["failed"] == 2
    turn_but_slow(world)
    assert round_detail(database, 1).round.state == "crawling"
    assert [row for row in host_detail(database, "h7.jp").owners if row.until_ms is None]
    world.run()
    assert round_detail(database, 1).round.state == "finished"
    assert check(database) == []


def test_probes_of_an_agent_that_is_away_are_not_given_up_for_being_late(
    database: Database,
) -> None:
    """It was slow to call, and gets only what it measured: its own time-outs decide."""
    world = probing(database)
    world.policy = replace(world.policy, permit_s=20_000, probe_timeout_s=50_000)
    turn_but_slow(world)
    away = holder(world)
    for _ in range(30):
        turn_but_slow(world, away)
    assert audited(world, "round.give-up-probes") == []
    assert round_detail(database, 1).round.state == "probing"
    until(world, lambda: bool(audited(world, "round.give-up-probes")))


def test_few_first_probes_of_a_later_round_hold_no_step_up(database: Database) -> None:
    """A new host is probed: the next step for all others begins beside it, and it gets its own."""
    world = probing(database)
    world.run()
    world.hosts("new.jp")
    world.policy = replace(world.policy, probe_large_share=0.0, control_hosts_per_agent=0)
    start_round(database, "default", ADMIN, world.now_ms, policy=world.policy)
    assert sum(round_detail(database, 2).orders.values()) == 2
    with database.read() as tx:
        assert is_nearly_done(tx, 2, steps=0)
        assert not is_nearly_done(tx, 2, steps=1), "all of the step are open"
        assert not is_nearly_done(tx, 3, steps=1), "there is no such round"
    world.tick()
    assert round_detail(database, 2).round.state == "probing"
    world.run()
    assert round_detail(database, 2).round.state == "finished"
    assert {order.state for order in host_detail(database, "new.jp").orders} == {"done"}
    assert check(database) == []


def test_a_round_that_waits_for_many_probes_waits(database: Database) -> None:
    """A step in which a third is open orders nothing and gives nothing up."""
    world = probing(database)
    for _ in range(8):
        turn_but_slow(world, "b", "c")
    assert audited(world, "round.order-probes") == []
    assert audited(world, "round.give-up-probes") == []
