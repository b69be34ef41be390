"""Splits are proposed where they pay, applied by a setting or a person, and merged again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.db.hosts import host_splits, hosts
from manager.db.rounds import rounds
from manager.errors import ConflictError
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_merge import merge_host
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.hosts.hosts import exclude_host
from manager.operations.hosts.splits.application import apply_by_setting, apply_proposals
from manager.operations.hosts.splits.orders import cancel_order
from manager.operations.hosts.splits.proposals import SplitReport, propose_splits, split_report
from manager.operations.ownership.pins import pin_unit, unpin_units
from manager.operations.people.audit_log import audit_page
from manager.operations.policy import Policy
from manager.operations.rounds.rounds import start_round
from tests.manager.operations.hosts.test_host_split import HOST, OTHER, begin_crawl, owners
from tests.manager.operations.hosts.test_host_split import crawled as crawled_world
from tests.manager.operations.slow_host import size_host
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

PAGES = 1200
LONG_MS = PAGES * 20_000
"""So long the big host takes at least with one agent: a page in 20 s."""


def crawled(db: Database, pages: int = PAGES) -> World:
    """Return a world whose big host takes 6.7 h at 20 s, and the small one a minute."""
    world = crawled_world(db)
    size(world, HOST, pages)
    size(world, OTHER, 3)
    return world


def size(world: World, key: str, pages: int) -> None:
    """Make a host as large as its last crawl would say."""
    numbers = [one.identity.id for one in world.agents.values()]
    size_host(world.db, key, pages, numbers, world.now_ms)


def allowing(world: World, interval_s: float = 5.0, splits: str = "propose") -> Policy:
    """Return a policy in which a person says that hosts allow a request so often."""
    return replace(world.policy, split_interval_s=interval_s, splits=splits)


def report(world: World, policy: Policy) -> SplitReport:
    with world.db.read() as tx:
        return propose_splits(tx, policy, world.now_ms)


def finish(world: World) -> None:
    """Run the world until its round is over."""
    world.run()


def test_the_hosts_rate_is_kept_so_nothing_is_proposed(database: Database) -> None:
    """At the usual interval three agents gain a split second in 20; what would help is listed."""
    world = crawled(database)
    found = report(world, replace(world.policy, slow_host_s=3600))
    assert found.proposals == []
    assert found.crawl_ms == found.after_ms
    assert found.crawl_ms == pytest.approx(LONG_MS, rel=0.01)
    [slow] = found.slow
    assert (slow.host, slow.beside, slow.requests) == (HOST, 0, PAGES + 1)
    assert slow.why.code == "hosts.split_gains_nothing"
    assert slow.takes_ms == found.crawl_ms
    assert slow.interval_s == pytest.approx((3600 - 120.1) / 1201, abs=0.01)
    assert slow.burst == 7
    assert found.looked_at == 1


def test_a_host_that_is_done_in_time_is_not_slow(database: Database) -> None:
    """Its 6.7 h are less than a day; a round's deadline goes before the setting."""
    world = crawled(database)
    assert report(world, world.policy).slow == []
    start_round(
        database,
        "keep",
        ADMIN,
        world.now_ms,
        probe=False,
        policy=world.policy,
        until_ms=world.now_ms + 3_600_000,
    )
    found = report(world, world.policy)
    assert found.fit_ms <= 3_600_000
    assert [one.host for one in found.slow] == [HOST]


def test_a_rate_that_a_person_allows_is_proposed(database: Database) -> None:
    """A page in 5 s for all three agents: each keeps its 20 s, the crawl ends in a third."""
    world = crawled(database)
    found = report(world, allowing(world))
    [one] = found.proposals
    assert (one.action, one.host, one.interval_s) == ("split", HOST, 5.0)
    assert one.agents[0] == owners(world)[HOST]
    assert len(one.agents) == 3
    assert one.crawl_before_ms == pytest.approx(LONG_MS, rel=0.01)
    assert found.after_ms == one.crawl_after_ms
    assert one.crawl_after_ms is not None
    assert one.crawl_after_ms < 0.45 * LONG_MS
    assert not one.is_personal
    assert one.obstacle is None
    assert found.slow == []


def test_nothing_is_proposed_where_the_setting_is_off(database: Database) -> None:
    """Slow hosts are listed all the same."""
    world = crawled(database)
    found = report(world, replace(allowing(world, splits="off"), slow_host_s=3600))
    assert found.proposals == []
    assert [one.host for one in found.slow] == [HOST]
    assert apply_by_setting(database, world.now_ms, allowing(world, splits="off")) == 0


def test_a_person_applies_a_proposal_and_the_setting_leaves_it(database: Database) -> None:
    """One audit row, the pieces of the proposal, and no merge by itself ever."""
    world = crawled(database)
    [one] = report(world, allowing(world)).proposals
    done = apply_proposals(database, ADMIN, world.now_ms, allowing(world), HOST)
    assert done.split == [HOST]
    assert set(owners(world).values()) == set(one.agents)
    [entry] = audit_page(database, action="host.split")
    assert (entry.subject, entry.actor_name) == (HOST, ADMIN.name)
    assert check(database) == []
    found = report(world, replace(allowing(world), split_interval_s=0))
    assert found.proposals == [], "it gains as long as its pieces keep 5 s"
    shrink(world)
    [merge] = report(world, allowing(world)).proposals
    assert (merge.action, merge.is_personal) == ("merge", True)
    assert apply_by_setting(database, world.now_ms, allowing(world, splits="apply")) == 0
    assert apply_proposals(database, ADMIN, world.now_ms, allowing(world), HOST).merged == [HOST]
    assert set(owners(world)) == {HOST}


def shrink(world: World) -> None:
    """Let the pieces of the big host be small, beside another one that is large."""
    with world.db.write() as tx:
        for unit in hosts.units_of_hosts(tx, [HOST]):
            hosts.set_volume(tx, unit.id, 1.0, 1)
    size(world, OTHER, 500)


def test_what_is_not_proposed_cannot_be_applied(database: Database) -> None:
    """The refusal says how to split it all the same."""
    world = crawled(database)
    with pytest.raises(ConflictError) as caught:
        apply_proposals(database, ADMIN, world.now_ms, world.policy, HOST)
    assert caught.value.message.code == "hosts.no_split_proposal"


def test_the_setting_splits_before_the_crawl_and_merges_two_rounds_later(
    database: Database,
) -> None:
    """It does not flap: a host rests for two rounds, however its size changes."""
    world = crawled(database)
    world.policy = allowing(world, splits="apply")
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.wait(world.policy.tick_s)
    world.tick()
    assert len(owners(world)) > 1
    [entry] = audit_page(database, action="host.split")
    assert entry.actor_kind == "clock"
    finish(world)
    rows = host_detail(database, HOST)
    with database.read() as tx:
        change = host_splits.changes_of(tx, [rows.host.id])[rows.host.id]
        newest = rounds.last_number(tx)
    assert change.by_setting
    assert change.round == newest == 2
    for number in (3, 4):
        shrink(world)
        start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
        world.wait(world.policy.tick_s)
        world.tick()
        assert (set(owners(world)) == {HOST}) == (number == 4)
        finish(world)
    # And it is not split again for two rounds, although it is large again.
    size(world, HOST, PAGES)
    [one] = report(world, world.policy).proposals
    assert (one.action, one.from_round) == ("split", 6)
    assert apply_by_setting(database, world.now_ms, world.policy) == 0


def test_a_host_that_is_being_crawled_is_split_after_it(database: Database) -> None:
    """The crawl goes on untouched; the split follows when its logs are in, in the same round."""
    world = crawled(database)
    begin_crawl(world)
    before = owners(world)
    [one] = report(world, allowing(world)).proposals
    assert one.obstacle is not None
    assert one.obstacle.code == "hosts.busy_crawl"
    done = apply_proposals(database, ADMIN, world.now_ms, allowing(world), HOST)
    assert (done.split, done.ordered) == ([], [HOST])
    [entry] = audit_page(database, action="host.order-split")
    assert (entry.subject, entry.actor_name) == (HOST, ADMIN.name)
    assert owners(world) == before
    [one] = report(world, allowing(world)).proposals
    assert one.is_ordered
    finish_host(world, before[HOST])
    assert owners(world) == before, "its log has not come"
    world.wait(world.policy.log_timeout_s + world.policy.tick_s)
    world.report(before[HOST])
    world.call(before[HOST])
    world.tick()
    assert set(owners(world).values()) == set(world.agents)
    [split] = audit_page(database, action="host.split")
    assert split.actor_kind == "clock"
    assert personal(world)
    assert check(database) == []
    again = [key for key in fetchable(world) if key.startswith(HOST)]
    assert again == [], "this round has it behind it"
    finish(world)
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    finish(world)
    world.check_exclusive()
    with database.read() as tx:
        assert rounds.open_round(tx) is None


def finish_host(world: World, owner: str) -> None:
    """Let the owner of the big host fetch it; the other host stays as it is."""
    world.fetch(owner, HOST)
    world.sync(owner)
    world.tick()


def personal(world: World) -> bool:
    """Return whether a person split or merged the big host last."""
    number = host_detail(world.db, HOST).host.id
    with world.db.read() as tx:
        return not host_splits.changes_of(tx, [number])[number].by_setting


def fetchable(world: World) -> list[str]:
    """Return the units that any agent would fetch now."""
    for name in world.agents:
        world.call(name)
    now_ms = world.now_ms
    return [unit for agent in world.agents.values() for unit in agent.fetchable(now_ms)]


def test_an_ordered_host_waits_for_its_split_where_rounds_overlap(database: Database) -> None:
    """The next round would take it at once; it is given to nobody before it is split."""
    world = crawled(database)
    for agent in world.agents.values():
        agent.unit_rounds = True
    begin_crawl(world)
    before = owners(world)
    apply_proposals(database, ADMIN, world.now_ms, allowing(world), HOST)
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.wait(world.policy.tick_s)
    world.tick()
    finish_host(world, before[HOST])
    world.tick()
    world.call(before[HOST])
    assert HOST not in [
        key for key, one in world.agents[before[HOST]].listed.items() if one.round == 3
    ]
    world.wait(world.policy.log_timeout_s + world.policy.tick_s)
    world.report(before[HOST])
    world.call(before[HOST])
    world.tick()
    assert set(owners(world).values()) == set(world.agents)
    finish(world)
    world.check_exclusive()
    with database.read() as tx:
        assert rounds.open_round(tx) is None
    assert check(database) == []


def test_an_order_can_be_cancelled(database: Database) -> None:
    """Then the host stays as it is; what is not ordered cannot be cancelled."""
    world = crawled(database)
    begin_crawl(world)
    apply_proposals(database, ADMIN, world.now_ms, allowing(world), HOST)
    cancel_order(database, HOST, ADMIN, world.now_ms)
    [entry] = audit_page(database, action="host.cancel-split")
    assert entry.actor_name == ADMIN.name
    finish(world)
    world.tick()
    assert set(owners(world)) == {HOST}
    with pytest.raises(ConflictError) as caught:
        cancel_order(database, HOST, ADMIN, world.now_ms)
    assert caught.value.message.code == "hosts.no_split_order"


def test_an_order_that_became_impossible_is_dropped(database: Database) -> None:
    """The reason is in the audit, and the host is crawled again."""
    world = crawled(database)
    begin_crawl(world)
    apply_proposals(database, ADMIN, world.now_ms, allowing(world), HOST)
    exclude_host(database, HOST, "", ADMIN, world.now_ms)
    for name in world.agents:
        world.call(name)
    world.tick()
    [entry] = audit_page(database, action="host.cancel-split")
    assert entry.actor_kind == "clock"
    with database.read() as tx:
        assert host_splits.ordered(tx, 9) == []


def test_a_split_by_hand_keeps_the_owners_pause(database: Database) -> None:
    """Without an interval the host sees what one agent sends; a person may say less."""
    world = crawled(database)
    made = split_host(database, HOST, ADMIN, world.now_ms, dry_run=True, policy=world.policy)
    assert made.interval_s == 20.0
    less = split_host(
        database, HOST, ADMIN, world.now_ms, dry_run=True, policy=world.policy, interval_s=3
    )
    assert less.interval_s == 3


def test_a_host_that_no_split_helps_says_why(database: Database) -> None:
    """Its directories are not known: it was never crawled in large logs."""
    world = crawled(database)
    size(world, OTHER, 5 * PAGES)
    found = report(world, replace(allowing(world), slow_host_s=3600))
    assert {one.host: one.why.code for one in found.slow} == {
        OTHER: "hosts.directories_unknown",
        HOST: "hosts.split_gains_nothing",
    }
    assert found.proposals == []


def test_a_pinned_host_stays_with_its_agent(database: Database) -> None:
    """A person chose its agent: nothing is proposed before it is unpinned."""
    world = crawled(database)
    pin_unit(database, HOST, owners(world)[HOST], "", ADMIN, world.now_ms)
    found = report(world, replace(allowing(world), slow_host_s=3600))
    assert found.proposals == []
    assert [one.why.code for one in found.slow] == ["hosts.pinned_whole"]
    unpin_units(database, [HOST], ADMIN, world.now_ms)
    assert len(report(world, allowing(world)).proposals) == 1


def test_the_report_is_a_figure(database: Database) -> None:
    """Pages show what was read a moment ago; an application asks again."""
    world = crawled(database)
    assert split_report(database, allowing(world), world.now_ms).proposals
    apply_proposals(database, ADMIN, world.now_ms, allowing(world))
    assert not split_report(database, allowing(world), world.now_ms).proposals
    merge_host(database, HOST, ADMIN, world.now_ms)
