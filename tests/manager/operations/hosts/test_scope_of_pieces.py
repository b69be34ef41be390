"""Pieces of a split host close and open with the scope of the crawl, as whole hosts do."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from manager.db.engine import Database
from manager.db.tables import unit_rounds, units
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.crawl_scope import preview_scope, scope_of_crawl, set_scope
from manager.operations.hosts.host_merge import merge_host
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.hosts import exclude_host, include_host
from manager.operations.rounds.rounds import start_round
from tests.manager.operations.hosts.test_host_split import (
    HOST,
    NAMES,
    begin_crawl,
    crawled,
    listed,
    owners,
)
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

NEWS = "http://big.example.jp:80/news/"
WITHOUT_NEWS = "exclude http://big.example.jp/news/"


def split(database: Database) -> World:
    """Return a world with a host in pieces, of which `/news/` is one."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    assert NEWS in owners(world)
    return world


def state_of(db: Database, key: str) -> tuple[str, str]:
    """Return the state of a unit, and the rule by which it is outside."""
    with db.read() as tx:
        query = sa.select(units.c.state, units.c.scope_rule).where(units.c.key == key)
        [(state, rule)] = tx.tuples(query)
    return state, rule


def states_in(db: Database, number: int) -> dict[str, str]:
    """Return the states of the host's units in a round."""
    with db.read() as tx:
        query = (
            sa.select(units.c.key, unit_rounds.c.state)
            .join(units, units.c.id == unit_rounds.c.unit_id)
            .where(unit_rounds.c.round == number, units.c.key.startswith(HOST))
        )
        return dict(tx.tuples(query))


def everywhere(world: World) -> set[str]:
    """Return the units of the host in all agents' lists."""
    return {one.url for name in NAMES for one in listed(world, name)}


def calls(world: World, times: int = 3) -> None:
    """Let the clock tick and agents call."""
    for _ in range(times):
        world.wait(world.policy.tick_s)
        world.tick()
        for name in NAMES:
            world.call(name)
        world.check_exclusive()


def test_a_piece_outside_leaves_the_crawl_and_the_others_go_on(database: Database) -> None:
    """Its agent stops, others still leave it out, and the host is done without it."""
    world = split(database)
    pieces = set(owners(world))
    begin_crawl(world)
    assert everywhere(world) == pieces
    found = preview_scope(database, WITHOUT_NEWS)
    assert (found.closed_hosts, found.closed_units, found.closed_examples) == (0, 1, [NEWS])
    set_scope(database, WITHOUT_NEWS, "", ADMIN, world.now_ms)
    calls(world)
    assert everywhere(world) == pieces - {NEWS}
    [top] = [one for name in NAMES for one in listed(world, name) if one.url == HOST]
    assert "/news/" in top.excepted
    assert state_of(database, NEWS)[0] == "excluded"
    world.run()
    told = states_in(database, 2)
    assert told.pop(NEWS) == "cancelled"
    assert set(told.values()) == {"finished"}
    assert check(database) == []


def test_a_piece_inside_again_is_crawled_in_the_next_round(database: Database) -> None:
    """A round that began while it was outside has nothing of it."""
    world = split(database)
    pieces = set(owners(world))
    set_scope(database, WITHOUT_NEWS, "", ADMIN, world.now_ms)
    begin_crawl(world)
    assert everywhere(world) == pieces - {NEWS}
    world.run()
    set_scope(database, "", "", ADMIN, world.now_ms)
    assert state_of(database, NEWS) == ("idle", "")
    begin_crawl(world)
    world.run()
    assert set(owners(world)) == pieces
    assert states_in(database, 3) == dict.fromkeys(pieces, "finished")
    assert check(database) == []


def test_a_scope_narrowed_and_widened_in_mid_crawl(database: Database) -> None:
    """What was closed joins the round that goes on, once."""
    world = split(database)
    pieces = set(owners(world))
    begin_crawl(world)
    set_scope(database, WITHOUT_NEWS, "", ADMIN, world.now_ms)
    calls(world)
    set_scope(database, "", "", ADMIN, world.now_ms)
    calls(world, 4)
    assert everywhere(world) == pieces
    world.run()
    assert states_in(database, 2) == dict.fromkeys(pieces, "finished")
    assert check(database) == []


def test_a_host_whose_other_pieces_rest_is_done_without_the_one_outside(
    database: Database,
) -> None:
    """Nobody reports anything more, so the clock finishes it."""
    world = split(database)
    begin_crawl(world)
    for name in NAMES:
        for unit in [one for one in world.agents[name].listed if one != NEWS]:
            world.fetch(name, unit)
        world.call(name)
    assert states_in(database, 2)[HOST] == "granted"
    set_scope(database, WITHOUT_NEWS, "", ADMIN, world.now_ms)
    world.tick()
    assert states_in(database, 2)[HOST] == "finished"
    world.run()
    assert check(database) == []


@pytest.mark.parametrize("narrow", ["include *.com", "exclude host:big.example.jp"])
def test_all_pieces_close_and_open_with_their_host(database: Database, narrow: str) -> None:
    """And each is crawled again, by one agent."""
    world = split(database)
    pieces = set(owners(world))
    begin_crawl(world)
    set_scope(database, narrow, "", ADMIN, world.now_ms)
    calls(world)
    assert everywhere(world) == set()
    assert owners(world) == {}
    world.run()
    assert check(database) == []
    set_scope(database, "", "", ADMIN, world.now_ms)
    begin_crawl(world)
    world.run()
    assert set(owners(world)) == pieces
    assert check(database) == []


def test_only_one_piece_is_inside(database: Database) -> None:
    """`/` stays, because it stands for its host: names are looked up, and the host is probed."""
    world = split(database)
    set_scope(database, "include http://big.example.jp/news/", "", ADMIN, world.now_ms)
    assert set(owners(world)) == {HOST, NEWS}
    begin_crawl(world)
    assert everywhere(world) == {HOST, NEWS}
    world.run()
    assert states_in(database, 2) == {HOST: "finished", NEWS: "finished"}
    assert check(database) == []


def test_a_split_makes_no_piece_outside_of_the_scope(database: Database) -> None:
    """A directory of the newest crawl may be outside since: its piece is closed at once."""
    world = crawled(database)
    set_scope(database, WITHOUT_NEWS, "", ADMIN, world.now_ms)
    split_host(database, HOST, ADMIN, world.now_ms)
    assert NEWS not in owners(world)
    assert state_of(database, NEWS) == ("excluded", "exclude http://big.example.jp/news/")
    assert scope_of_crawl(database).outside == 1
    begin_crawl(world)
    assert NEWS not in everywhere(world)
    world.run()
    assert check(database) == []


def test_a_merge_forgets_which_pieces_were_outside(database: Database) -> None:
    """They are no units any more; a later split begins anew."""
    world = split(database)
    pieces = set(owners(world))
    set_scope(database, WITHOUT_NEWS, "", ADMIN, world.now_ms)
    merge_host(database, HOST, ADMIN, world.now_ms)
    assert scope_of_crawl(database).outside == 0
    assert state_of(database, NEWS) == ("excluded", "")
    set_scope(database, "", "", ADMIN, world.now_ms)
    assert state_of(database, NEWS) == ("excluded", "")
    split_host(database, HOST, ADMIN, world.now_ms)
    assert set(owners(world)) == pieces
    begin_crawl(world)
    assert everywhere(world) == pieces
    world.run()
    assert check(database) == []


def test_an_excluded_host_in_pieces_comes_back_within_the_scope(database: Database) -> None:
    """A person's word and the scope close the same piece; both must open it."""
    world = split(database)
    pieces = set(owners(world))
    exclude_host(database, HOST, "asked", ADMIN, world.now_ms)
    set_scope(database, WITHOUT_NEWS, "", ADMIN, world.now_ms)
    include_host(database, HOST, ADMIN, world.now_ms)
    begin_crawl(world)
    assert everywhere(world) == pieces - {NEWS}
    set_scope(database, "", "", ADMIN, world.now_ms)
    calls(world, 4)
    world.run()
    assert set(owners(world)) == pieces
    assert check(database) == []


def test_a_piece_closes_in_each_round_that_is_open(database: Database) -> None:
    """An older round does not wait for it, either."""
    world = split(database)
    begin_crawl(world)
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    calls(world)
    set_scope(database, WITHOUT_NEWS, "", ADMIN, world.now_ms)
    calls(world)
    for number in (2, 3):
        assert states_in(database, number).get(NEWS) not in ("waiting", "granted")
    world.run()
    assert check(database) == []
