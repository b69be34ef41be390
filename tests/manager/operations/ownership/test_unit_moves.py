"""A move by hand: now, and only until a plan says otherwise."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.errors import ConflictError, NotFoundError
from manager.operations.fleet.contact import unsubscribe
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.bans import ban_host
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.hosts import exclude_host
from manager.operations.ownership.pins import list_pins, pin_unit, unpin_units
from manager.operations.ownership.unit_moves import move_unit
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.rounds import round_detail, start_round
from shared.messages import Message
from tests.manager.operations.hosts.test_host_split import HOST, crawled
from tests.manager.operations.hosts.test_host_split import owners as piece_owners
from tests.manager.operations.ownership.test_pins import other_than, other_than_owner, replanned
from tests.manager.operations.planning.test_plans import measured, owners
from tests.manager.operations.world import ADMIN, World

UNIT = "http://h1.jp:80/"
BY_HAND = Message("ownership.moved_by_hand")


def test_a_moved_host_changes_hands_until_the_next_plan(database: Database) -> None:
    """The history keeps both owners and the reason; nothing is pinned; the next plan evens."""
    world = measured(database, "prices")
    before, agent = owners(database)[UNIT], other_than(database, UNIT)
    assert move_unit(database, "h1.jp", agent, "near it", ADMIN, world.now_ms) == 1
    assert owners(database)[UNIT] == agent
    assert list_pins(database).pins == []
    detail = host_detail(database, "h1.jp")
    newest, older = sorted(detail.owners, key=lambda row: -row.epoch)[:2]
    assert (detail.agents[newest.agent_id], newest.reason_opened) == (agent, BY_HAND)
    assert (older.until_ms, older.reason_closed) == (world.now_ms, BY_HAND)
    (row,) = audit_page(database, action="unit.move")
    assert (row.subject, row.actor_name) == (UNIT, ADMIN.name)
    assert '"reason": "near it"' in row.detail
    assert move_unit(database, "h1.jp", agent, "", ADMIN, world.now_ms) == 0
    replanned(database, world, "prices")
    assert owners(database)[UNIT] == before
    assert check(database) == []


def test_a_move_in_a_round_takes_all_that_shares_the_address(database: Database) -> None:
    """Who crawls it now goes on until it has taken another list; nobody crawls it beside."""
    world = World(database)
    world.join("a", "b")
    world.hosts("h1.jp", "h2.jp", address="203.0.113.5")
    start_round(database, "keep", ADMIN, world.now_ms, probe=False)
    world.tick()
    agent = "b" if owners(database)[UNIT] == "a" else "a"
    for name in "ab":
        world.call(name)
    assert move_unit(database, "h2.jp", agent, "", ADMIN, world.now_ms) == 2
    world.tick()
    world.check_exclusive()
    world.run()
    assert round_detail(database, 1).units == {"finished": 2}
    assert set(owners(database).values()) == {agent}
    assert check(database) == []


def test_a_piece_of_a_split_host_moves_by_itself(database: Database) -> None:
    """The other pieces stay where they are."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    before = piece_owners(world)
    piece = next(unit.key for unit in host_detail(database, HOST).units if unit.path != "/")
    agent = other_than_owner(before[piece])
    assert move_unit(database, piece, agent, "", ADMIN, world.now_ms) == 1
    assert piece_owners(world) == before | {piece: agent}


def test_what_cannot_move_is_refused_in_words(database: Database) -> None:
    """No owner yet, a pin, a ban, an exclusion, an agent that is away, names that are none."""
    world = World(database)
    world.join("a", "b", "c")
    world.hosts("h1.jp", "h2.jp")
    now_ms = world.now_ms

    def refused(host: str, agent: str, match: str) -> None:
        with pytest.raises(ConflictError, match=match):
            move_unit(database, host, agent, "", ADMIN, now_ms)

    refused("h1.jp", "a", "http://h1.jp:80/ has no owner yet")
    replanned(database, world, "random")
    pin_unit(database, "h1.jp", "a", "", ADMIN, now_ms)
    refused("h1.jp", "b", "is pinned to a; unpin it first")
    unpin_units(database, ["h1.jp"], ADMIN, now_ms)
    ban_host(database, "h1.jp", "b", "", ADMIN, now_ms)
    refused("h1.jp", "b", "never gets http://h1.jp:80/")
    unsubscribe(database, world.agents["c"].identity, now_ms)
    refused("h1.jp", "c", "c has left; move to an agent that takes part")
    exclude_host(database, "h2.jp", "", ADMIN, now_ms)
    refused("h2.jp", "a", "is excluded")
    for host, agent in (("z.jp", "a"), ("h1.jp", "z")):
        with pytest.raises(NotFoundError):
            move_unit(database, host, agent, "", ADMIN, now_ms)
    assert audit_page(database, action="unit.move") == []
