"""An agent that left by M5 has a state of its own, wherever it is said how agents are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from manager.assignment.liveness import LivenessState
from manager.balancing.forecast.work_duration import DEFAULT_CAPACITY
from manager.console.notices import agent_notices
from manager.db.engine import Database
from manager.errors import PlainAgentError
from manager.operations.actor import Actor
from manager.operations.fleet.agents import agent_detail, list_agents, order_command
from manager.operations.fleet.contact import is_restart, subscribe, unsubscribe
from manager.operations.health.alert_rules import alerts_of
from manager.operations.health.system_figures import system_figures_of
from manager.operations.ownership.agent_capacity import capacity_of
from manager.operations.people.audit_log import audit_page
from shared.wire.sync import Capacity
from tests.manager.operations.health.no_alerts import OFF
from tests.manager.operations.syncs import sync
from tests.manager.operations.world import World

HOUR_S = 3600
LIMITS = replace(OFF, agent_late_s=1)


def left(database: Database, *, plain: bool) -> World:
    """Return a world in which agent a took part, left, and b stays."""
    world = World(database)
    world.join("a", kind="plain" if plain else "sync")
    world.join("b")
    if not plain:
        world.call("a")
    subscribe(database, world.agents["a"].identity, world.now_ms, world.policy)
    unsubscribe(database, world.agents["a"].identity, world.now_ms, world.policy)
    return world


def state_of(world: World, name: str) -> LivenessState:
    """Return how an agent is."""
    views = list_agents(world.db, world.now_ms, world.policy)
    return next(view.liveness.state for view in views if view.row.name == name)


@pytest.mark.parametrize("plain", [True, False])
def test_an_agent_that_left_is_left_and_never_lost(database: Database, *, plain: bool) -> None:
    """At once, a day later, and a month later; nothing is wrong with it, and nobody is told."""
    world = left(database, plain=plain)
    for hours in (0, 30, 800):
        world.wait(hours * HOUR_S)
        world.tick()
        views = {view.row.name: view for view in list_agents(database, world.now_ms, world.policy)}
        how = views["a"].liveness
        assert how.state is LivenessState.LEFT
        assert how.reason.code == "fleet.state_left"
        assert not how.attention
        assert list(agent_notices(views["a"], world.now_ms)) == []
        standing = system_figures_of(database, Path("/"), world.policy, world.now_ms)
        assert standing.agents["left"] == 1
        found = alerts_of(standing, 0, [], {}, LIMITS, world.now_ms)
        assert not [one for one in found if one.key.endswith(":a")]
    assert "agent.mark-lost" not in [
        row.action for row in audit_page(database, subject="a", limit=100)
    ]


@pytest.mark.parametrize("plain", [True, False])
def test_other_messages_do_not_bring_it_back(database: Database, *, plain: bool) -> None:
    """Only M5 does."""
    world = left(database, plain=plain)
    is_restart(database, world.agents["a"].identity, world.now_ms, world.policy)
    assert state_of(world, "a") is LivenessState.LEFT
    subscribe(database, world.agents["a"].identity, world.now_ms, world.policy)
    assert state_of(world, "a") is not LivenessState.LEFT


def test_the_key_of_a_plain_agent_may_not_sync(database: Database) -> None:
    """It joined to speak the five messages; a sync of it changes nothing."""
    world = World(database)
    world.join("a", kind="plain")
    before = list_agents(database, world.now_ms, world.policy)
    with pytest.raises(PlainAgentError, match="does not sync") as refused:
        world.sync("a")
    assert refused.value.code == "plain_agent"
    assert list_agents(database, world.now_ms, world.policy) == before


def test_a_plain_agent_is_not_what_it_said_when_it_synced(database: Database) -> None:
    """It joins again to speak the five messages: pause, hours, promise and orders of before end."""
    world = World(database)
    world.join("a")
    identity = world.agents["a"].identity
    told = replace(
        world.request("a"),
        state="paused",
        state_reason="its site said so",
        next_contact_ms=world.now_ms + 5 * 24 * HOUR_S * 1000,
        capacity=Capacity(parallel_hosts=1, weekday=((0, 60),), weekend=()),
        refetches=True,
    )
    sync(database, identity, told, world.now_ms, world.policy)
    assert state_of(world, "a") in (LivenessState.PAUSED, LivenessState.ASLEEP)
    order_command(database, "a", "drain", Actor("user", "hana"), world.now_ms)
    world.join("a", kind="plain", key="another")
    world.wait(700)
    world.tick()
    subscribe(database, world.agents["a"].identity, world.now_ms, world.policy)
    detail = agent_detail(database, "a", world.now_ms, world.policy)
    row = detail.view.row
    assert detail.view.liveness.state is LivenessState.IDLE
    assert capacity_of(row) == DEFAULT_CAPACITY
    assert row.state_reason is None
    assert (row.refetches, row.command, row.promised_ms) == (False, "", None)
