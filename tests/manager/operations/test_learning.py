"""When the model of distances is made: beside the tick, and before a plan."""

from __future__ import annotations

from manager.db import predictions
from manager.db.engine import Database
from manager.operations.predicting import refresh_model
from manager.operations.tick import tick
from tests.manager.operations.test_rounds import probing
from tests.manager.operations.world import World

H1 = "http://h1.jp:80/"


def learned(world: World) -> bool:
    """Tell whether there is a model."""
    with world.db.read() as tx:
        return predictions.stored_model(tx) is not None


def tick_only(world: World) -> None:
    """Tick as a manager does whose clock learns beside it."""
    tick(world.db, world.now_ms, world.policy, learns=False)


def probed(world: World, name: str) -> None:
    """Let an agent probe the host, say so, and send its log."""
    world.fetch(name, H1)
    world.call(name)
    world.report(name)


def test_a_tick_waits_for_no_model_but_before_a_plan(database: Database) -> None:
    """While probes are open nothing is learned in the tick; when all came, the plan needs it."""
    world = probing(database, "a", "b")
    first, second = sorted("ab", key=lambda name: not world.agents[name].fetchable(world.true_ms))
    probed(world, first)
    tick_only(world)
    assert not learned(world)
    world.call(second)
    probed(world, second)
    tick_only(world)
    assert learned(world)


def test_what_came_is_learned_beside_the_tick(database: Database) -> None:
    """Once, until something new comes and ten minutes are over."""
    world = probing(database, "a")
    probed(world, "a")
    assert refresh_model(database, world.now_ms)
    assert learned(world)
    assert not refresh_model(database, world.now_ms)
