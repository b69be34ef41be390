"""A plain agent gets whole hosts only, whatever it was before and however a piece came to it."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.db.hosts import hosts
from manager.db.ownership import assignments
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.addresses import record_addresses
from manager.operations.hosts.host_merge import merge_host
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.ownership.reassignment import members
from manager.operations.people.audit_log import audit_page
from manager.operations.planning.plan_changes import plan_obstacles
from manager.operations.planning.plans import make_plan, plan_detail
from manager.operations.rounds.rounds import start_round
from shared.messages import Message
from tests.manager.operations.hosts.test_host_split import (
    HOST,
    NAMES,
    OTHER,
    begin_crawl,
    crawled,
    listed,
    owners,
    states,
)
from tests.manager.operations.world import ADMIN, World

BY_HAND = Message("ownership.moved_by_hand")

pytestmark = pytest.mark.scenario


def split(database: Database) -> tuple[World, str]:
    """Return a world in which a host is split, and an agent that has a directory of it."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms)
    return world, owners(world)[next(unit for unit in owners(world) if unit != HOST)]


def join_as_plain(world: World, *names: str) -> None:
    world.join(*names, kind="plain", key="another key of")


def let_pass(world: World, *calling: str) -> None:
    """Let so much time pass that a permit is over, and who is silent is lost."""
    for _ in range(40):
        world.wait(50)
        world.tick()
        for name in calling:
            world.call(name)
        world.check_exclusive()


def give_lists(world: World) -> None:
    """Let every agent, all of them plain, take lists until nothing is given any more."""
    for _ in range(3):
        world.wait(world.policy.tick_s)
        world.tick()
        for name in NAMES:
            world.take_list(name)


def test_who_joins_again_as_plain_gives_its_pieces_away(database: Database) -> None:
    """Those of the others go on; what the old program may fetch is free when its permit is over."""
    world, plain = split(database)
    begin_crawl(world)
    join_as_plain(world, plain)
    others = [name for name in NAMES if name != plain]
    let_pass(world, *others)
    assert set(owners(world).values()) == set(others)
    [entry] = audit_page(database, action="agent.take-over")
    assert entry.subject == plain
    assert "ownership.owner_is_plain" in entry.detail
    world.take_list(plain)
    assert listed(world, plain) == []
    world.run(names=others)
    assert check(database) == []


def test_pieces_wait_where_only_plain_agents_are_left(database: Database) -> None:
    """Nobody fetches what it cannot know the limits of; plans leave the host and say so."""
    world, _ = split(database)
    before = owners(world)
    join_as_plain(world, *NAMES)
    let_pass(world)
    plan = plan_detail(database, make_plan(database, "default", ADMIN, world.now_ms))
    assert "planning.units_stay" in [one.code for one in plan.explanation]
    start_round(database, "default", ADMIN, world.now_ms, probe=False, policy=world.policy)
    give_lists(world)
    assert owners(world) == before
    assert [one for name in NAMES for one in listed(world, name)] == []
    assert states(world) == {"waiting"}


def test_a_merged_host_goes_to_a_plain_agent_again(database: Database) -> None:
    """That is the way out where no agent that syncs is left."""
    world, _ = split(database)
    join_as_plain(world, *NAMES)
    let_pass(world)
    merge_host(database, HOST, ADMIN, world.now_ms)
    start_round(database, "default", ADMIN, world.now_ms, probe=False, policy=world.policy)
    give_lists(world)
    assert [one.url for name in NAMES for one in listed(world, name)] == [HOST]
    assert check(database) == []


def test_who_comes_back_as_plain_gets_no_piece_back(database: Database) -> None:
    """What it had of the host stays with those that took it over; whole hosts come back."""
    world, lost = split(database)
    with database.write() as tx:
        whole = hosts.ids_of_units(tx, [OTHER])[OTHER]
        assignments.place(
            tx,
            {whole: world.agents[lost].identity.id},
            world.now_ms,
            BY_HAND,
        )
    let_pass(world, *[name for name in NAMES if name != lost])
    after = owners(world)
    assert lost not in after.values()
    join_as_plain(world, lost)
    for _ in range(3):
        world.take_list(lost)
        world.wait(world.policy.tick_s)
        world.tick()
    assert owners(world) == after
    detail = host_detail(database, OTHER)
    assert [detail.agents[row.agent_id] for row in detail.owners if row.until_ms is None] == [lost]
    assert check(database) == []


def test_a_plan_for_a_plain_agent_is_stale_when_the_host_is_split(database: Database) -> None:
    """It was made when the host was whole."""
    world = crawled(database)
    join_as_plain(world, "p")
    world.take_list("p")
    split_host(database, HOST, ADMIN, world.now_ms)
    with database.read() as tx:
        unit = hosts.ids_of_units(tx, [HOST])[HOST]
        giver = assignments.owners_of(tx, [unit])[unit]
        taker = world.agents["p"].identity.id
        changes = plan_obstacles(tx, [(unit, giver, taker)], {row.id: row for row in members(tx)})
    assert [(change.kind, change.examples) for change in changes] == [
        ("units-barred", (Message("planning.unit_split", unit=HOST, agent="p"),))
    ]


def test_an_address_with_pieces_stays_with_an_agent_that_syncs(database: Database) -> None:
    """Though a plain agent had more hosts at the address when it turned out to be one."""
    world, _ = split(database)
    join_as_plain(world, "p")
    world.take_list("p")
    more = [f"m{number}.example.jp" for number in range(6)]
    world.hosts(*more, address="198.51.100.77")
    start_round(database, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.run(names=NAMES)
    with database.write() as tx:
        keys = [f"http://{name}:80/" for name in more]
        units = hosts.ids_of_units(tx, keys)
        plain = world.agents["p"].identity.id
        assignments.place(
            tx,
            dict.fromkeys(units.values(), plain),
            world.now_ms,
            BY_HAND,
        )
        one = host_detail(database, keys[0]).host.id
        record_addresses(tx, plain, {one: set(world.address[HOST])}, world.now_ms)
        now = assignments.owners_of(tx, units.values())
    assert set(now.values()) == {world.agents[owners(world)[HOST]].identity.id}
    assert len(set(owners(world).values())) == 1
    assert "p" not in owners(world).values()
    assert check(database) == []
