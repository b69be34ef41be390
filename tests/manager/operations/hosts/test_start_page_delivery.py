"""Start pages that come during a round: to crawls under way, to units that are done, or later."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from manager.db import tables
from manager.db.consistency_checks import contradictions
from manager.db.engine import Database
from manager.operations.hosts.crawl_scope import set_scope
from manager.operations.hosts.hosts import exclude_host
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


def test_pages_named_without_end_do_not_keep_a_round_open(database: Database) -> None:
    """A unit continues as often as the setting says; the pages behind that are for the next round.

    An agent names one more page whenever the unit is done.
    """
    world, _, other = crawling(database, reopens=True)
    world.policy = replace(world.policy, reopenings_per_unit=2)
    seen: set[str] = set()
    for number in range(200):
        record_discovered(
            world.db, world.agents[other].identity, [(1, f"{PAGE}{number}", None)], world.now_ms
        )
        world.wait(world.policy.tick_s)
        world.tick()
        for name in world.agents:
            world.call(name)
            seen.update(world.agents[name].starts.get("http://h0.jp:80/", ()))
            world.work(name)
            world.call(name)
        if current_round(database) is None:
            break
    assert current_round(database) is None
    with database.read() as tx:
        [reopened] = tx.values(sa.select(sa.func.max(tables.unit_rounds.c.reopened)))
    assert reopened == 2
    assert round_detail(database, 1).units == {"finished": 4}


def test_what_a_hostile_agent_names_takes_its_share_and_no_more(database: Database) -> None:
    """Thousands of pages of one unit, twice; pages of a closed unit, and outside of the scope."""
    policy = replace(POLICY, start_page_delay_s=1.0, start_pages_per_unit=20)
    world = World(database, policy)
    world.join("a", "b")
    world.hosts("h0.jp", "h1.jp", "closed.jp", "far.example")
    set_scope(database, "include *.jp\ndefault exclude\n", "", ADMIN, world.now_ms)
    exclude_host(database, "closed.jp", "asked", ADMIN, world.now_ms)
    hostile = world.agents["b"].identity
    pages = [f"http://h0.jp/{number}/" for number in range(3000)]
    pages += ["http://closed.jp/x", "http://far.example/x", "http://new.example/x"]
    for _ in range(2):
        lines = ((number, url, None) for number, url in enumerate(pages, 1))
        record_discovered(database, hostile, lines, world.now_ms, policy)
    named = [(1, "http://h0.jp/39/", "http://h1.jp/")]
    record_discovered(database, world.agents["a"].identity, named, world.now_ms, policy)
    with database.read() as tx:
        kept = tx.values(sa.select(tables.start_pages.c.url))
        known = tx.values(sa.select(tables.hosts.c.key))
        dropped = tx.values(sa.select(sa.func.sum(tables.units.c.dropped_pages)))
    assert sorted(kept) == sorted(f"http://h0.jp:80/{number}/" for number in (*range(20), 39))
    assert "http://new.example:80/" not in known
    assert dropped == [2 * (3000 - 20)]
    start_round(database, "random", ADMIN, world.now_ms, probe=False)
    for _ in range(3):
        world.wait(world.policy.tick_s)
        world.resolve()
        world.tick()
        for name in world.agents:
            world.call(name)
    [sent] = (agent.starts["http://h0.jp:80/"] for agent in world.agents.values() if agent.starts)
    assert set(sent) == {f"/{number}/" for number in (*range(19), 39)}
    world.run()
    assert current_round(database) is None
    with database.read() as tx:
        assert list(contradictions(tx)) == []


def test_start_pages_reach_the_crawls_of_two_rounds_at_once(database: Database) -> None:
    """The earlier round ends although pages of units of the later one come all the time."""
    world, owner, other = crawling(database, reopens=True)
    for agent in world.agents.values():
        agent.unit_rounds = True
    for name in world.agents:
        world.call(name)
    assert start_round(database, "keep", ADMIN, world.now_ms, probe=False) == 2
    for _ in range(3):
        world.wait(world.policy.tick_s)
        world.tick()
        for name in world.agents:
            world.call(name)
    left = [(unit, name) for name, agent in world.agents.items() for unit in agent.listed]
    assert dict(left)["http://h0.jp:80/"] == owner, "it is crawled again, in round 2"
    early = [(unit, name) for unit, name in left if unit != "http://h0.jp:80/"]
    assert len(early) == 3
    pages = [f"{unit.replace(':80', '')}island/" for unit, _ in early]
    found = [(line, page, None) for line, page in enumerate(pages, start=1)]
    record_discovered(world.db, world.agents[other].identity, found, world.now_ms)
    world.wait(world.policy.start_page_delay_s + 1)
    world.tick()
    for unit, name in early:
        world.call(name)
        assert starts(world, name)[unit] == ("/island/",), "round 1 still crawls it"
    for unit, name in early:
        world.fetch(name, unit)
        world.report(name)
        world.call(name)
    world.policy = replace(world.policy, start_page_delay_s=100_000.0)
    for number in range(200):
        if round_detail(database, 1).round.state == "finished":
            break
        page = (1, f"{PAGE}{number}", None)
        record_discovered(world.db, world.agents[other].identity, [page], world.now_ms)
        world.wait(world.policy.tick_s)
        world.tick()
        for name in world.agents:
            world.call(name)
    assert round_detail(database, 1).round.state == "finished"
    current = current_round(database)
    assert current is not None
    assert current.number == 2
    world.policy = replace(world.policy, start_page_delay_s=1.0)
    world.run()
    assert current_round(database) is None
