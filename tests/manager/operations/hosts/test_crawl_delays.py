"""Crawl-delays that agents read: in forecasts at once, in the pause of a split if two agree."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.db.engine import Database
from manager.db.hosts.crawl_delays import CrawlDelayRow
from manager.db.planning import plan_inputs
from manager.operations.hosts.crawl_delays import (
    LONGEST_DELAY_MS,
    agreed_ms,
    record_crawl_delays,
)
from manager.operations.hosts.host_merge import merge_host
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.splits.proposals import SplitReport, propose_splits
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.rounds import start_round
from tests.manager.operations.hosts.test_host_split import HOST, OTHER, owners
from tests.manager.operations.hosts.test_split_proposals import LONG_MS, PAGES, crawled
from tests.manager.operations.world import ADMIN, World


def read_delay(world: World, delay_ms: int, *names: str) -> None:
    """Have agents say the Crawl-delay of the big host."""
    [top] = [unit.id for unit in host_detail(world.db, HOST).units if unit.path == "/"]
    with world.db.write() as tx:
        said = [(top, world.agents[name].identity.id, delay_ms) for name in names]
        record_crawl_delays(tx, said, world.now_ms)


def delays(world: World, key: str = HOST) -> dict[str, int]:
    """Return the Crawl-delay of a host by agent."""
    detail = host_detail(world.db, key)
    return {detail.agents[one.agent_id]: one.delay_ms for one in detail.crawl_delays}


def report(world: World) -> SplitReport:
    """Return proposals and slow hosts, of hosts that take more than an hour."""
    with world.db.read() as tx:
        return propose_splits(tx, replace(world.policy, slow_host_s=3600), world.now_ms)


def run_round(world: World) -> None:
    """Crawl once more with the present owners."""
    start_round(world.db, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.run()


def test_what_an_agent_reads_is_kept_until_it_reads_another(database: Database) -> None:
    """Who says nothing of it, as an agent before such reports, changes nothing."""
    world = crawled(database)
    assert delays(world) == {}
    owner = world.agents[owners(world)[HOST]]
    for said, kept in ((60_000, 60_000), (None, 60_000), (10**12, LONGEST_DELAY_MS), (0, None)):
        owner.crawl_delay_ms = said
        run_round(world)
        assert delays(world).get(owner.name) == kept
    assert set(delays(world)) <= {owner.name}


def test_what_is_said_of_a_unit_of_another_is_not_taken(database: Database) -> None:
    """Only of what it fetches an agent can have read the robots.txt."""
    world = crawled(database)
    owner = owners(world)[HOST]
    other = next(name for name in world.agents if name != owner)
    claim = next(one for one in world.agents[owner].claims.values() if one.unit == HOST)
    world.agents[other].unanswered.append(claim)
    world.agents[other].crawl_delay_ms = 60_000
    world.call(other)
    assert other not in delays(world)


@pytest.mark.scenario
def test_a_host_that_asks_for_time_makes_the_crawl_longer(database: Database) -> None:
    """At a request a minute it takes three times as long; the list of slow hosts says why."""
    world = crawled(database)
    owner = owners(world)[HOST]
    read_delay(world, 60_000, owner)
    found = report(world)
    assert found.crawl_ms == pytest.approx(3 * LONG_MS, rel=0.01)
    [slow] = found.slow
    assert (slow.host, slow.interval_s, slow.burst) == (HOST, None, None)
    assert (slow.why.code, slow.why.params) == ("hosts.asks_for_crawl_delay", {"delay_s": 60.0})
    with database.read() as tx:
        pauses = {
            unit.owner: unit.pause_ms
            for unit in plan_inputs.plan_units(tx, states=("placed",))
            if unit.pages == PAGES
        }
    assert pauses == {world.agents[owner].identity.id: 60_000}


@pytest.mark.scenario
def test_a_short_delay_that_two_read_lets_a_split_pay(database: Database) -> None:
    """The site allows a page in 5 s: three agents at 20 s each are within that."""
    world = crawled(database)
    owner = owners(world)[HOST]
    other, third = (name for name in world.agents if name != owner)
    read_delay(world, 5_000, owner)
    assert report(world).proposals == [], "one agent alone does not speak for a site"
    read_delay(world, 5_000, other)
    [one] = report(world).proposals
    assert (one.host, one.action, one.interval_s, len(one.agents)) == (HOST, "split", 5.0, 3)
    assert one.crawl_after_ms is not None
    assert one.crawl_after_ms < 0.45 * LONG_MS
    split_host(database, HOST, ADMIN, world.now_ms, policy=world.policy)
    assert host_detail(database, HOST).host.shared_interval_ms == 5_000
    assert len(audit_page(database, action="host.split")) == 1
    assert report(world).proposals == [], "it pays"
    merge_host(database, HOST, ADMIN, world.now_ms, world.policy)
    read_delay(world, 30_000, third)
    assert report(world).proposals == [], "a longer one holds as soon as one agent reads it"


@pytest.mark.scenario
def test_a_short_delay_that_the_owner_no_longer_reads_is_over(database: Database) -> None:
    """What two others read in their probes may be old: the site took it back."""
    world = crawled(database)
    owner = owners(world)[HOST]
    read_delay(world, 5_000, *world.agents)
    assert report(world).proposals
    read_delay(world, 0, owner)
    assert report(world).proposals == []


@pytest.mark.scenario
def test_the_pause_of_a_split_is_as_long_as_robots_txt_says(database: Database) -> None:
    """Asked for more, and then for nothing, its agents rest longer from the next round on."""
    world = crawled(database)
    owner = owners(world)[HOST]
    read_delay(world, 5_000, *world.agents)
    split_host(database, HOST, ADMIN, world.now_ms, policy=world.policy)
    for said, pause_ms in ((5_000, 5_000), (8_000, 8_000), (4_000, 8_000), (0, 20_000)):
        read_delay(world, said, *(world.agents if said else (owner,)))
        run_round(world)
        assert host_detail(database, HOST).host.shared_interval_ms == pause_ms
    rows = audit_page(database, action="host.lengthen-pause")
    assert [json.loads(row.detail) for row in rows] == [{"interval_s": 20.0}, {"interval_s": 8.0}]


@pytest.mark.scenario
def test_a_pause_that_a_person_chose_stays(database: Database) -> None:
    """Whatever robots.txt says less of; agents keep what it asks for themselves."""
    world = crawled(database)
    split_host(database, HOST, ADMIN, world.now_ms, interval_s=5.0, policy=world.policy)
    run_round(world)
    assert host_detail(database, HOST).host.shared_interval_ms == 5_000


@pytest.mark.scenario
def test_two_short_delays_that_differ_count_as_none(database: Database) -> None:
    """Whoever is right: neither is confirmed."""
    world = crawled(database)
    read_delay(world, 5_000, "a")
    read_delay(world, 4_000, "b")
    assert report(world).proposals == []


def test_a_delay_of_another_host_changes_nothing(database: Database) -> None:
    """A long one of the small host does not slow the big one down."""
    world = crawled(database)
    before = report(world).crawl_ms
    [top] = [unit.id for unit in host_detail(database, OTHER).units if unit.path == "/"]
    small = owners(world) | {OTHER: ""}
    assert small
    with database.write() as tx:
        ids = [agent.identity.id for agent in world.agents.values()]
        record_crawl_delays(tx, [(top, number, 60_000) for number in ids], world.now_ms)
    assert report(world).crawl_ms == before


@given(
    st.lists(
        st.sampled_from((1, 4_000, 5_000, 19_999, 20_000, 60_000, LONGEST_DELAY_MS)), max_size=6
    ),
    st.sampled_from((1.0, 5_000.0, 20_000.0)),
)
def test_no_single_agent_shortens_the_pause_of_a_site(said: list[int], alone_ms: float) -> None:
    """With any one agent's word left out, the pause would be no longer than it is, or as alone."""
    rows = [CrawlDelayRow(1, number, delay_ms, 0) for number, delay_ms in enumerate(said)]
    pause_ms = agreed_ms(rows, 0, alone_ms)
    assert pause_ms >= max(said, default=0)
    if pause_ms < alone_ms:
        for row in rows:
            others = [one for one in rows if one != row]
            assert len(others) >= 1
            assert max(one.delay_ms for one in others) <= pause_ms
        assert len({*said}) < len(said)
