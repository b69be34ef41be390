"""Agents that speak only the five messages: M1 acknowledges, logs say what was done."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.operations.fleet.agents import agent_detail, set_next_list_limit
from manager.operations.fleet.contact import note_message
from manager.operations.fleet.server_lists import current_list
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.hosts import exclude_host
from manager.operations.policy import Policy
from manager.operations.rounds.rounds import current_round, round_detail, start_round
from shared.wire.server_list import MaxTransfer
from tests.manager.operations.world import ADMIN, POLICY, World

HOSTS = ("h1.jp", "h2.jp", "h3.jp")


def with_plain(database: Database, policy: Policy = POLICY) -> World:
    """Return a world with one plain agent that has called, and three hosts."""
    world = World(database, policy)
    world.join("p", kind="plain")
    note_message(database, world.agents["p"].identity, "subscribe", world.now_ms, world.policy)
    world.hosts(*HOSTS)
    return world


def believes(world: World) -> list[str]:
    """Return what the plain agent's list names; it knows no permit."""
    agent = world.agents["p"]
    return sorted(agent.fetchable(agent.permit_until_ms - 1))


def fetch_all(world: World) -> None:
    """Let the plain agent fetch its list."""
    agent = world.agents["p"]
    agent.permit_until_ms = world.true_ms + 1
    for unit in believes(world):
        world.fetch("p", unit)
    agent.unanswered = []


def test_a_round_with_the_five_messages_only(database: Database) -> None:
    """List, crawl, log, list: a probe ends at its limit, a crawl with the next list."""
    world = with_plain(database)
    world.order_probes(*HOSTS)
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.tick()
    world.take_list("p")
    lines = list(current_list(database, world.agents["p"].identity, world.now_ms).lines)
    assert [line for line in lines if isinstance(line, MaxTransfer)] == [MaxTransfer(50)]
    fetch_all(world)
    world.report("p")
    world.tick()
    assert round_detail(database, 1).orders == {"done": 3}
    world.take_list("p")
    lines = list(current_list(database, world.agents["p"].identity, world.now_ms).lines)
    assert not [line for line in lines if isinstance(line, MaxTransfer)]
    fetch_all(world)
    world.report("p")
    world.tick()
    assert round_detail(database, 1).units == {"granted": 3}
    world.take_list("p")
    assert round_detail(database, 1).units == {"finished": 3}
    world.tick()
    assert current_round(database) is None
    assert host_detail(database, "h1.jp").units[0].volume_kb == 100
    assert check(database) == []


@pytest.mark.parametrize("days", [-30, 30])
def test_a_message_to_a_manager_with_a_wrong_clock_lasts_no_longer(
    database: Database, days: int
) -> None:
    """Its permit and its last contact are by the leader's clock."""
    world = with_plain(database)
    world.tick()
    world.wait(40)
    policy = world.policy
    for said in ("record", "list"):
        world.reach_follower(days * 86_400)
        if said == "list":
            world.take_list("p")
        else:
            note_message(database, world.agents["p"].identity, said, world.served_ms, policy)
        row = agent_detail(database, "p", world.now_ms, policy).view.row
        assert row.last_contact == said
        assert row.last_contact_ms is not None
        assert abs(row.last_contact_ms - world.now_ms) <= 60_000
        lasts_ms = row.permit_until_ms - world.now_ms
        assert policy.plain_permit_s * 1000 <= lasts_ms <= (policy.plain_permit_s + 120) * 1000


def test_a_list_asked_for_twice_is_the_same(database: Database) -> None:
    """Without a log in between nothing is taken as finished."""
    world = with_plain(database)
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    first = world.take_list("p")
    listed = dict(world.agents["p"].listed)
    assert world.take_list("p") == first
    assert world.agents["p"].listed == listed


def test_asking_for_the_list_is_the_acknowledgement(database: Database) -> None:
    """What was withdrawn is free when the list without it was asked for."""
    world = with_plain(database)
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    world.take_list("p")
    exclude_host(database, "h1.jp", "asked to", ADMIN, world.now_ms)
    world.tick()
    assert len(host_detail(database, "h1.jp").rights) == 1
    world.take_list("p")
    assert host_detail(database, "h1.jp").rights == []
    assert "http://h1.jp:80/" not in world.agents["p"].listed


def test_a_probe_without_a_line_stays_open(database: Database) -> None:
    """The log ends the probes that it has in full; silence says nothing of the other hosts."""
    world = with_plain(database)
    world.order_probes(*HOSTS)
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.tick()
    world.take_list("p")
    world.agents["p"].permit_until_ms = world.true_ms + 1
    world.fetch("p", "http://h1.jp:80/")
    world.report("p")
    world.take_list("p")
    world.tick()
    assert round_detail(database, 1).orders == {"done": 1, "granted": 2}
    measured = [
        [one.state for one in host_detail(database, host).distances if one.state != "predicted"]
        for host in HOSTS
    ]
    assert measured == [["measured"], [], []]
    assert sorted(world.agents["p"].listed) == ["http://h2.jp:80/", "http://h3.jp:80/"]


def test_any_message_renews_what_a_plain_agent_has(database: Database) -> None:
    """It calls once a night; a day of silence takes nothing from it, two do."""
    world = with_plain(database, replace(POLICY, plain_permit_s=600))
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    world.take_list("p")
    assert rights_after(world, 560) == 3
    note_message(database, world.agents["p"].identity, "submitlog", world.now_ms, world.policy)
    assert rights_after(world, 560) == 3
    assert rights_after(world, 160) == 0


def rights_after(world: World, seconds: int) -> int:
    """Return how many units the plain agent may crawl after a silence, the clock ticking on."""
    for _ in range(seconds // 40):
        world.wait(40)
        world.tick()
    return agent_detail(world.db, "p", world.now_ms).view.crawl_rights


def test_the_next_list_can_be_limited(database: Database) -> None:
    """The source's page: the next list has 50 pages a unit, or all."""
    world = with_plain(database)
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.tick()
    world.take_list("p")
    assert {work.max_transfer for work in world.agents["p"].listed.values()} == {0}
    set_next_list_limit(database, "p", 50, ADMIN, world.now_ms)
    world.take_list("p")
    assert {work.max_transfer for work in world.agents["p"].listed.values()} == {50}
    assert agent_detail(database, "p", world.now_ms).view.row.list_limit is None
    set_next_list_limit(database, "p", 0, ADMIN, world.now_ms)
    world.take_list("p")
    assert {work.max_transfer for work in world.agents["p"].listed.values()} == {0}


@pytest.mark.parametrize("kind", ["plain", "sync"])
def test_a_limit_holds_for_one_list(database: Database, kind: str) -> None:
    """Asked for again it is the same list; the next one has all pages of what is open, and of what
    is new."""
    world = World(database)
    world.join("p", kind=kind)
    if kind == "plain":
        world.take_list("p")
    world.hosts("h1.jp", "h2.jp")
    start_round(database, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)

    def limits() -> set[int]:
        world.tick()
        if kind == "sync":
            world.sync("p")
        world.take_list("p")
        return {work.max_transfer for work in world.agents["p"].listed.values()}

    assert limits() == {0}
    set_next_list_limit(database, "p", 50, ADMIN, world.now_ms)
    assert limits() == {50}
    assert limits() == {50}
    exclude_host(database, "h2.jp", "", ADMIN, world.now_ms)
    assert limits() == {0}
    assert limits() == {0}
