"""Start pages that come during a round: to crawls under way, to units that are done, or later."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.operations.rounds.rounds import current_round, round_detail, start_round
from tests.manager.operations.discovered import record_discovered
from tests.manager.operations.world import ADMIN, POLICY, World

pytestmark = pytest.mark.scenario
PAGE = "http://h0.jp/island/"


def crawling(database: Database, *, reopens: bool) -> tuple[World, str, str]:
    """Return a world in its crawl, the name of the agent that has finished h0, and another."""
    world = World(database, replace(POLICY, start_page_delay_s=1.0))
    world.join("a", "b")
    for agent in world.agents.values():
        agent.reopens = reopens
    world.hosts("h0.jp", "h1.jp", "h2.jp", "h3.jp")
    start_round(database, "random", ADMIN, world.now_ms, probe=False)
    for _ in range(3):
        world.wait(world.policy.tick_s)
        world.resolve()
        world.tick()
        for name in world.agents:
            world.call(name)
    unit = "http://h0.jp:80/"
    owner = next(name for name in world.agents if unit in world.agents[name].listed)
    world.fetch(owner, unit)
    world.report(owner)
    world.call(owner)
    assert round_detail(database, 1).units["finished"] == 1
    return world, owner, next(name for name in world.agents if name != owner)


def find(world: World, name: str) -> None:
    identity = world.agents[name].identity
    found = [(1, PAGE, "http://h1.jp/links.html")]
    assert record_discovered(world.db, identity, found, world.now_ms).start_pages == 1


def starts(world: World, name: str) -> dict[str, tuple[str, ...]]:
    """Return the start pages of the units of an agent's list now."""
    world.take_list(name)
    return world.agents[name].starts


def test_a_unit_that_is_done_continues_in_the_round(database: Database) -> None:
    """Its agent is sent it again with the page, also one that ends in `/`, and the round waits."""
    world, owner, other = crawling(database, reopens=True)
    find(world, other)
    world.wait(world.policy.start_page_delay_s + 1)
    for _ in range(2):
        world.call(owner)
        world.tick()
    assert starts(world, owner)["http://h0.jp:80/"] == ("/island/",)
    world.run()
    assert current_round(database) is None
    assert round_detail(database, 1).units == {"finished": 4}


def test_an_agent_of_the_version_before_has_the_page_in_the_next_round(database: Database) -> None:
    """It would fetch the whole unit again, so it is not sent it twice in a round."""
    world, owner, other = crawling(database, reopens=False)
    find(world, other)
    world.wait(world.policy.start_page_delay_s + 1)
    for _ in range(2):
        world.call(owner)
        world.tick()
    assert "http://h0.jp:80/" not in starts(world, owner)
    world.run()
    assert current_round(database) is None
    start_round(database, "keep", ADMIN, world.now_ms, probe=False)
    for _ in range(3):
        world.wait(world.policy.tick_s)
        world.tick()
        world.call(owner)
    assert starts(world, owner)["http://h0.jp:80/"] == ("/island/",)
