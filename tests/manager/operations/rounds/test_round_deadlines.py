"""Deadlines of rounds: what is left goes on in the next one, and rounds may overlap."""

from __future__ import annotations

import pytest

from manager.db.engine import Database
from manager.errors import ConflictError
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.bans import ban_host
from manager.operations.rounds.carried_work import carried_work
from manager.operations.rounds.rounds import (
    cancel_round,
    carry_over_now,
    list_rounds,
    round_detail,
    start_round,
)
from shared.errors import FormatError
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

H1, H2 = "http://h1.jp:80/", "http://h2.jp:80/"


def crawling(database: Database, *, unit_rounds: bool = True) -> World:
    """Return a world whose first round crawls two hosts, of which one is finished."""
    world = World(database)
    world.join("a")
    world.agents["a"].unit_rounds = unit_rounds
    world.hosts("h1.jp", "h2.jp")
    until_ms = world.now_ms + 3_600_000
    start_round(database, "keep", ADMIN, world.now_ms, until_ms=until_ms, policy=world.policy)
    for _ in range(6):
        turn(world)
        if round_detail(database, 1).round.state == "crawling":
            break
        world.work("a")
    turn(world)
    assert set(world.agents["a"].fetchable(world.true_ms)) == {H1, H2}
    world.fetch("a", H2)
    world.report("a")
    turn(world)
    return world


def turn(world: World) -> None:
    """Let the clock tick, and every agent call before and after it."""
    for name in world.agents:
        world.call(name)
    world.wait(world.policy.tick_s)
    world.tick()
    for name in world.agents:
        world.call(name)


def test_a_deadline_must_be_ahead(database: Database) -> None:
    """A past moment, one of another year, and no share are refused."""
    world = World(database)
    for given in ({"until_ms": world.now_ms}, {"until_ms": 2**50}, {"until_share": 1.5}):
        with pytest.raises(FormatError):
            start_round(database, "keep", ADMIN, world.now_ms, **given)


def test_the_rest_goes_on_in_the_next_round(database: Database) -> None:
    """The round ends at its deadline; its agent goes on with the queue that it has."""
    world = crawling(database)
    world.wait(3_600)
    for _ in range(12):
        turn(world)
    row = round_detail(database, 1)
    assert (row.round.state, row.units) == ("finished", {"finished": 1, "carried": 1})
    work = world.agents["a"].fetchable(world.true_ms)[H1]
    assert (work.round, work.continues) == (2, 1)
    # It is finished for the next round, before that begins, and is not fetched again in it.
    world.fetch("a", H1)
    world.report("a")
    turn(world)
    assert start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy) == 2
    world.run()
    assert round_detail(database, 2).round.state == "finished"
    assert world.crawled == {(H1, 2): 1, (H2, 1): 1, (H2, 2): 1}
    assert check(database) == []


def test_an_agent_of_the_version_before_begins_again(database: Database) -> None:
    """It cannot be told that a queue goes on; its list stays one round's."""
    world = crawling(database, unit_rounds=False)
    carry_over_now(database, ADMIN, world.now_ms)
    turn(world)
    assert world.agents["a"].fetchable(world.true_ms) == {}
    world.run()
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    assert world.crawled == {(H1, 2): 1, (H2, 1): 1, (H2, 2): 1}
    assert check(database) == []


def test_a_finished_unit_begins_again_while_a_slow_one_goes_on(database: Database) -> None:
    """The next round waits for nothing of the former one, and each unit names its own round."""
    world = crawling(database)
    assert start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy) == 2
    with pytest.raises(ConflictError, match="round 2 is probing"):
        start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    for _ in range(6):
        turn(world)
    listed = world.agents["a"].fetchable(world.true_ms)
    assert {unit: work.round for unit, work in listed.items()} == {H1: 1, H2: 2}
    world.run()
    assert [row.state for row in list_rounds(database)] == ["finished", "finished"]
    assert world.crawled == {(H1, 1): 1, (H2, 1): 1, (H1, 2): 1, (H2, 2): 1}
    assert check(database) == []


def test_a_third_round_carries_over_the_oldest(database: Database) -> None:
    """However slow a host is, the next round begins, and its crawl goes on."""
    world = crawling(database)
    for number in (2, 3):
        assert start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy) == number
        for _ in range(6):
            turn(world)
            if H2 in world.agents["a"].fetchable(world.true_ms):
                world.fetch("a", H2)
                world.report("a")
    assert round_detail(database, 1).units == {"carried": 1, "finished": 1}
    world.run()
    assert (H1, 1) not in world.crawled
    assert world.crawled[H1, 2] == world.crawled[H1, 3] == 1
    assert check(database) == []


def test_a_share_of_finished_units_is_a_deadline(database: Database) -> None:
    """Half of the units are enough; the deadline comes once."""
    world = World(database)
    world.join("a")
    world.agents["a"].unit_rounds = True
    world.hosts("h1.jp", "h2.jp")
    start_round(
        database, "keep", ADMIN, world.now_ms, probe=False, until_share=0.5, policy=world.policy
    )
    for _ in range(3):
        turn(world)
    world.fetch("a", H2)
    world.report("a")
    for _ in range(12):
        turn(world)
    assert round_detail(database, 1).units == {"finished": 1, "carried": 1}
    assert round_detail(database, 1).round.state == "finished"
    assert check(database) == []


def test_a_unit_that_was_finished_in_time_is_booked_to_its_round(database: Database) -> None:
    """The report was on its way at the deadline; the unit begins anew in the next round."""
    world = crawling(database)
    world.fetch("a", H1)
    world.report("a")
    carry_over_now(database, ADMIN, world.now_ms)
    turn(world)
    assert round_detail(database, 1).units == {"finished": 2}
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    assert world.crawled == {(H1, 1): 1, (H2, 1): 1, (H1, 2): 1, (H2, 2): 1}
    assert check(database) == []


def test_a_deadline_while_probing_ends_the_round(database: Database) -> None:
    """Nothing was crawled, so nothing is carried over."""
    world = World(database)
    world.join("a")
    world.hosts("h1.jp")
    until_ms = world.now_ms + 60_000
    start_round(database, "keep", ADMIN, world.now_ms, until_ms=until_ms, policy=world.policy)
    world.wait(61)
    turn(world)
    row = round_detail(database, 1).round
    assert (row.state, row.reason.code if row.reason else "") == (
        "cancelled",
        "rounds.deadline_in_probing",
    )
    assert check(database) == []


def test_carried_work_is_cancelled_while_no_round_is_open(database: Database) -> None:
    """The round to come is cancelled before it begins; the next one begins everything anew."""
    world = crawling(database)
    world.wait(3_600)
    for _ in range(12):
        turn(world)
    assert [row.state for row in list_rounds(database)] == ["finished"]
    carried = carried_work(database)
    assert carried is not None
    assert (carried.round, carried.left) == (2, 1)
    with pytest.raises(ConflictError, match="no round is open"):
        cancel_round(database, ADMIN, world.now_ms, meant=1)
    assert cancel_round(database, ADMIN, world.now_ms, "enough") == 2
    assert carried_work(database) is None
    with pytest.raises(ConflictError, match="no round is open"):
        cancel_round(database, ADMIN, world.now_ms)
    turn(world)
    assert world.agents["a"].fetchable(world.true_ms) == {}
    row = round_detail(database, 2)
    assert (row.round.state, row.units, str(row.round.reason)) == (
        "cancelled",
        {"cancelled": 1},
        "enough",
    )
    assert start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy) == 3
    world.run()
    assert world.crawled == {(H2, 1): 1, (H1, 3): 1, (H2, 3): 1}
    assert check(database) == []


def test_a_new_host_is_probed_while_others_are_crawled(database: Database) -> None:
    """Only probes where a crawl runs are given up: a host of another address has its own."""
    world = crawling(database)
    world.join("b")
    for host in ("h1.jp", "h2.jp"):
        ban_host(database, host, "b", "", ADMIN, world.now_ms)
    world.hosts("new.jp")
    assert start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy) == 2
    assert round_detail(database, 2).orders == {"waiting": 2}
    turn(world)
    held = {name: agent.fetchable(world.true_ms) for name, agent in world.agents.items()}
    assert held["a"][H1].kind == "crawl"
    assert [work[new].kind for work in held.values() if (new := "http://new.jp:80/") in work] == [
        "probe"
    ]
    world.run()
    assert round_detail(database, 2).orders == {"done": 2}
    assert check(database) == []
