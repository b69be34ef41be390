"""Agents that fall silent, leave or are retired; clocks that jump."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.operations.fleet.agents import agent_detail, retire
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.hosts import import_hosts
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.rounds import round_detail, start_round
from shared.messages import Message
from tests.manager.operations.fleet.test_contact import H1, crawling, owner_of
from tests.manager.operations.syncs import sync
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario


def two(database: Database) -> tuple[World, str, str]:
    """Return a world in which one agent has the right to the only host, and that agent first."""
    world = crawling(database, "a", "b")
    owner = owner_of(world)
    return world, owner, "b" if owner == "a" else "a"


def tick_for(world: World, seconds: int, *calling: str) -> None:
    """Let the manager run well, and some agents call."""
    for _ in range(seconds // 40):
        world.wait(40)
        world.tick()
        for name in calling:
            world.call(name)
            world.check_exclusive()


def test_a_silent_agent_keeps_its_units_while_its_permit_lasts(database: Database) -> None:
    """Until then it may be fetching; after it, and its grace, another takes over."""
    world, owner, other = two(database)
    tick_for(world, 560, other)
    assert owner_of(world) == owner
    assert H1 in world.agents[owner].fetchable(world.true_ms)
    tick_for(world, 160, other)
    assert owner_of(world) == other
    assert H1 in world.agents[other].fetchable(world.true_ms)
    lost = agent_detail(database, owner, world.now_ms, world.policy).view
    assert lost.liveness.state == "lost"
    assert lost.units_owned == 0
    owners = host_detail(database, "h1.jp").owners
    assert owners[0].reason_opened == Message("ownership.owner_lost")
    assert owners[1].reason_closed == Message("ownership.owner_lost")
    assert [row.action for row in audit_page(database, alerts=True)] == ["agent.mark-lost"]
    world.work(other)
    world.run(names=[other])
    assert round_detail(database, 1).units == {"finished": 1}


def test_an_agent_that_comes_back_takes_part_again(database: Database) -> None:
    """Its units stay where they are; with its list and a permit it gets new ones."""
    world, owner, other = two(database)
    tick_for(world, 800, other)
    world.call(owner)
    assert agent_detail(database, owner, world.now_ms, world.policy).view.liveness.state in (
        "idle",
        "working",
    )
    world.hosts("h2.jp", "h3.jp", "h4.jp", "h5.jp")
    world.run()
    assert check(database) == []
    assert agent_detail(database, owner, world.now_ms, world.policy).view.units_owned > 0


def test_a_promise_to_sleep_is_believed(database: Database) -> None:
    """Who said when it calls again is not lost before, though its permit and rights end."""
    world, owner, other = two(database)
    agent = world.agents[owner]
    request = replace(
        world.request(owner), next_contact_ms=world.true_ms + 7_200_000, state="asleep"
    )
    sync(database, agent.identity, request, world.now_ms, world.policy)
    tick_for(world, 2000, other)
    assert owner_of(world) == owner
    assert host_detail(database, "h1.jp").rights == []
    view = agent_detail(database, owner, world.now_ms, world.policy).view
    assert view.liveness.state == "asleep"
    world.call(owner)
    world.tick()
    world.call(owner)
    assert H1 in agent.fetchable(world.true_ms)


def test_an_outage_of_the_manager_costs_nobody_its_work(database: Database) -> None:
    """A gap between ticks extends permits first: nobody could have renewed its own."""
    world, owner, _ = two(database)
    world.tick()
    world.wait(50_000)
    outcome = world.tick()
    assert outcome.moved_ms == 50_000_000
    assert (outcome.rights_freed, outcome.units_taken_over) == (0, 0)
    assert world.agents[owner].fetchable(world.true_ms) == {}
    world.call(owner)
    assert H1 in world.agents[owner].fetchable(world.true_ms)


@pytest.mark.parametrize("days", [-30, 30])
def test_a_clock_that_jumps_ends_nobody_s_permit(database: Database, days: int) -> None:
    """Thirty days forth or back: no take-over at once, and none put off."""
    world, owner, other = two(database)
    world.tick()
    world.leap(days * 86_400)
    assert world.tick().units_taken_over == 0
    assert owner_of(world) == owner
    assert H1 in world.agents[owner].fetchable(world.true_ms)
    tick_for(world, 800, other)
    assert owner_of(world) == other
    assert check(database) == []


@pytest.mark.parametrize("days", [-30, 30])
def test_another_manager_s_clock_puts_no_take_over_off(database: Database, days: int) -> None:
    """One sync came to a manager whose clock is wrong by a month; then its agent dies."""
    world, owner, other = two(database)
    world.reach_follower(days * 86_400)
    world.call(owner)
    world.reach_follower(0)
    world.call(owner)
    assert H1 in world.agents[owner].fetchable(world.true_ms)
    tick_for(world, 560, other)
    assert owner_of(world) == owner
    tick_for(world, 160, other)
    assert owner_of(world) == other


@pytest.mark.parametrize("days", [-30, 30])
def test_a_leap_before_the_tick_puts_no_take_over_off(database: Database, days: int) -> None:
    """A sync comes between the leap of the leader's clock and the tick that notices it."""
    world, owner, other = two(database)
    world.leap(days * 86_400)
    world.call(owner)
    tick_for(world, 560, other)
    assert owner_of(world) == owner
    tick_for(world, 200, other)
    assert owner_of(world) == other


@pytest.mark.parametrize("days", [-30, 30])
def test_who_calls_a_manager_with_a_wrong_clock_is_not_late(database: Database, days: int) -> None:
    """What is known of agents, and the time that they are told, is the leader's."""
    world, owner, other = two(database)
    world.reach_follower(days * 86_400)
    for _ in range(5):
        world.wait(40)
        world.tick()
        for name in (owner, other):
            world.call(name)
            assert world.sync(name).server_time_ms - world.now_ms in range(61_000)
            view = agent_detail(database, name, world.now_ms, world.policy).view
            assert view.liveness.state in ("working", "idle")
            assert view.row.last_contact_ms is not None
            assert abs(view.row.last_contact_ms - world.now_ms) <= 60_000
            assert abs(view.row.skew_ms) <= 60_000
    assert check(database) == []


def test_a_clock_that_was_set_back_holds_nothing_up(database: Database) -> None:
    """What was due before the jump is due after it: names, probes, the end of the round."""
    world = World(database)
    world.join("a")
    world.tick()
    import_hosts(database, [(1, "h1.jp")], ADMIN, world.now_ms)
    world.leap(-30 * 86_400)
    world.tick()
    assert world.resolve() == 1
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    world.tick()
    world.call("a")
    world.fetch("a", H1)
    world.sync("a")
    world.leap(-30 * 86_400)
    world.report("a")
    world.run()
    assert round_detail(database, 1).round.state == "finished"


def test_a_jump_between_a_sync_and_a_tick_is_safe(database: Database) -> None:
    """A permit given by the old clock outlives the jump; one given by the new ends in time."""
    world, owner, other = two(database)
    world.tick()
    world.wait(3)
    world.sync(owner)
    world.leap(86_400)
    world.sync(other)
    world.tick()
    assert H1 in world.agents[owner].fetchable(world.true_ms)
    assert host_detail(database, "h1.jp").rights != []
    tick_for(world, 800, other)
    assert owner_of(world) == other


def test_a_retired_agent_s_units_go_on_when_its_permit_is_over(database: Database) -> None:
    """Its assignments move at once, the right to fetch only when it cannot be fetching any more."""
    world, owner, other = two(database)
    retire(database, owner, ADMIN, world.now_ms)
    world.tick()
    assert owner_of(world) == other
    world.call(other)
    assert world.agents[other].fetchable(world.true_ms) == {}
    tick_for(world, 720, other)
    assert H1 in world.agents[other].fetchable(world.true_ms)
    assert check(database) == []


def test_where_nobody_can_take_units_they_stay(database: Database) -> None:
    """The last agent's units wait for it, and for whoever joins."""
    world = crawling(database, "a")
    tick_for(world, 1600)
    assert owner_of(world) == "a"
    world.join("c")
    tick_for(world, 80, "c")
    assert owner_of(world) == "c"
    assert check(database) == []


def test_a_take_over_goes_on_after_each_batch(database: Database) -> None:
    """More units than one transaction takes all go, whole addresses together."""
    world = World(database)
    world.join("a")
    world.hosts(*(f"s{n}.jp" for n in range(30)), address="203.0.113.9")
    world.hosts(*(f"h{n}.jp" for n in range(90)))
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    world.join("b", "c")
    tick_for(world, 960, "b", "c")
    assert agent_detail(database, "a", world.now_ms, world.policy).view.units_owned == 0
    views = [agent_detail(database, name, world.now_ms, world.policy).view for name in "bc"]
    assert sum(view.units_owned for view in views) == 120
    assert min(view.units_owned for view in views) > 20
    assert check(database) == []
