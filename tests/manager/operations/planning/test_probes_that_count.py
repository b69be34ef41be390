"""The owner's probe counts as part of its crawl: in sums, volumes and distances, exactly once."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from manager.db.engine import Database
from manager.db.hosts.hosts import ids_of_units
from manager.db.measurement import measurements
from manager.db.measurement.measurements import SumRow
from manager.db.ownership.right_times import probe_times, right_times
from manager.operations.fleet.server_lists import current_list
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_split import split_host
from manager.operations.hosts.host_views import host_detail
from manager.operations.logs.log_entry import accept_log
from manager.operations.logs.log_summary import CountedProbe, LogSummary
from manager.operations.ownership.pins import pin_unit
from manager.operations.rounds.rounds import current_round, round_detail, start_round
from shared.wire.orders import Order, orders
from tests.manager.log_sums import unit_sum
from tests.manager.operations.big_host import know_directories
from tests.manager.operations.world import ADMIN, POLICY, World

pytestmark = pytest.mark.scenario

HOSTS = ("h1.jp", "h2.jp", "h3.jp", "h4.jp", "h5.jp", "h6.jp")
NAMES = ("a", "b", "c")


def unit(name: str) -> str:
    return f"http://{name}:80/"


def ready(database: Database, *, continues: bool = True) -> World:
    world = World(database, POLICY)
    world.join(*NAMES)
    for agent in world.agents.values():
        agent.continues_probes = continues
    world.hosts(*HOSTS)
    start_round(database, "default", ADMIN, world.now_ms, policy=world.policy)
    return world


def to_crawl(world: World) -> None:
    """Let the round run until it crawls, and every agent have its list."""
    for _ in range(60):
        world.wait(world.policy.tick_s)
        world.tick()
        for name in NAMES:
            world.call(name)
        current = current_round(world.db)
        assert current is not None
        if current.state == "crawling":
            break
        for name in NAMES:
            world.work(name)
            world.call(name)
    for _ in range(3):
        world.tick()
        for name in NAMES:
            world.call(name)


def owners(world: World) -> dict[str, str]:
    return {
        name: detail.agents[row.agent_id]
        for name in HOSTS
        for detail in [host_detail(world.db, name)]
        for row in detail.owners
        if row.until_ms is None
    }


def sums(world: World, host: str, agent: str, kind: str) -> list[SumRow]:
    with world.db.read() as tx:
        (number,) = ids_of_units(tx, [unit(host)]).values()
        of_agent = measurements.sums_of_agent(tx, world.agents[agent].identity.id, [number])
    return [row for row in of_agent if row.kind == kind]


def test_lists_say_of_which_units_the_probe_counts(database: Database) -> None:
    """Those that the agent probed in the round; each agent probed all, here."""
    world = ready(database)
    to_crawl(world)
    crawls = [work for agent in world.agents.values() for work in agent.listed.values()]
    assert len(crawls) == len(HOSTS)
    assert all(work.probed and work.kind == "crawl" for work in crawls)


def test_a_round_counts_the_pages_of_the_owners_probes(database: Database) -> None:
    """Volume, pages, bytes, time and distance are those of a crawl that fetched all again."""
    counted = ready(database)
    counted.run()
    detail = round_detail(database, 1)
    assert detail.units == {"finished": len(HOSTS)}
    requests = sum(agent.requests for agent in counted.agents.values())
    # Three probes of 50 pages, and the 50 pages that the owner has not fetched yet.
    assert requests == len(HOSTS) * (3 * 50 + 50)
    for host, owner in owners(counted).items():
        (crawl,) = sums(counted, host, owner, "crawl")
        (probe,) = sums(counted, host, owner, "probe")
        assert (crawl.requests, crawl.response_bytes, crawl.with_probe) == (100, 100_000, True)
        assert (probe.requests, probe.with_probe) == (50, False)
        assert host_detail(database, host).units[0].volume_kb == 100
        (distance,) = [row for row in host_detail(database, host).distances if row.kind == "crawl"]
        assert distance.ms_per_kb == pytest.approx(counted.distance(owner, unit(host)), rel=0.02)
    assert sum(one["pages"] for one in detail.agents) == 100 * len(HOSTS)
    assert sum(one["bytes"] for one in detail.agents) == 100_000 * len(HOSTS)
    assert check(database) == []


def test_a_unit_of_fewer_pages_than_a_probe_is_not_fetched_again(database: Database) -> None:
    """Its crawl logs no line at all, and is finished as one that did."""
    world = ready(database)
    to_crawl(world)
    for name, agent in world.agents.items():
        for key in list(agent.fetchable(world.true_ms)):
            world.fetch(name, key, kbytes=50)
        assert agent.lines == []
    for name in NAMES:
        world.report(name)
    world.run()
    assert round_detail(database, 1).units == {"finished": len(HOSTS)}
    for host in HOSTS:
        assert host_detail(database, host).units[0].volume_kb == 50
    assert check(database) == []


def test_an_agent_of_the_version_before_counts_as_before(database: Database) -> None:
    """It takes no notice of the comment, and fetches all again."""
    world = ready(database, continues=False)
    world.run()
    assert sum(agent.requests for agent in world.agents.values()) == len(HOSTS) * (150 + 100)
    for host, owner in owners(world).items():
        (crawl,) = sums(world, host, owner, "crawl")
        assert (crawl.requests, crawl.with_probe) == (100, False)
        assert host_detail(database, host).units[0].volume_kb == 100


def test_a_plain_agent_is_not_told(database: Database) -> None:
    """Its list says what the source's says."""
    world = World(database, POLICY)
    world.join("p", kind="plain")
    world.take_list("p")
    world.hosts("h1.jp")
    world.order_probes("h1.jp")
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    for _ in range(4):
        world.wait(world.policy.tick_s)
        world.tick()
        world.take_list("p")
        agent = world.agents["p"]
        agent.permit_until_ms = world.true_ms + 1
        for key in list(agent.fetchable(world.true_ms)):
            world.fetch("p", key)
        world.report("p")
        version = current_list(database, agent.identity, world.now_ms, world.policy)
        assert not any(one.probed for one in orders(version.lines) if isinstance(one, Order))
    assert host_detail(database, "h1.jp").units[0].volume_kb == 100


def test_who_takes_a_unit_over_fetches_it_whole(database: Database) -> None:
    """A pin moves it in mid-crawl to an agent whose own probe counts then."""
    world = ready(database)
    to_crawl(world)
    before = owners(world)["h1.jp"]
    after = next(name for name in NAMES if name != before)
    pin_unit(database, "h1.jp", after, "", ADMIN, world.now_ms)
    world.run()
    assert owners(world)["h1.jp"] == after
    (crawl,) = sums(world, "h1.jp", after, "crawl")
    assert (crawl.requests, crawl.with_probe) == (100, True)
    assert sums(world, "h1.jp", before, "crawl") == []
    assert host_detail(database, "h1.jp").units[0].volume_kb == 100
    assert check(database) == []


def test_an_agent_that_lost_its_disk_fetches_all_again(database: Database) -> None:
    """It is told that its probe counts, and has nothing of it."""
    world = ready(database)
    to_crawl(world)
    owner = owners(world)["h1.jp"]
    world.agents[owner].lose_disk()
    world.run()
    (crawl,) = sums(world, "h1.jp", owner, "crawl")
    assert (crawl.requests, crawl.with_probe) == (100, False)
    assert host_detail(database, "h1.jp").units[0].volume_kb == 100


def test_the_pieces_of_a_split_host_are_crawled_anew(database: Database) -> None:
    """The probe is of the whole host, and a piece is a part of it; it is not split in mid-round."""
    world = World(database, POLICY)
    world.join(*NAMES)
    world.hosts(*HOSTS)
    start_round(database, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)
    world.run()
    owner = owners(world)["h1.jp"]
    know_directories(database, unit("h1.jp"), world.agents[owner].identity.id, None)
    split_host(database, "h1.jp", ADMIN, world.now_ms)
    world.order_probes("h1.jp", "h2.jp")
    start_round(database, "keep", ADMIN, world.now_ms, policy=world.policy)
    to_crawl(world)
    assert world.agents[owners(world)["h2.jp"]].listed[unit("h2.jp")].probed
    told = [
        work
        for agent in world.agents.values()
        for key, work in agent.listed.items()
        if key.startswith(unit("h1.jp"))
    ]
    assert len(told) > 1
    assert not any(work.probed for work in told)
    world.run()
    assert check(database) == []


def log(number: int, **given: object) -> LogSummary:
    return LogSummary(
        name=f"a.{number:012d}",
        sha256=f"{number:064d}",
        size_bytes=1,
        lines=1,
        quarantined=0,
        since_ms=1_000_000_000_000,
        until_ms=1_000_000_000_000 + number,
        path="",
        **given,  # type: ignore[arg-type]  # the fields of a log
    )


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_the_order_of_logs_decides_nothing(database: Database, order: tuple[int, ...]) -> None:
    """Nor what is said twice: two logs of the probe, one that it counts, one of the crawl."""
    world = World(database)
    world.join("a")
    world.hosts("h1.jp")
    probe = unit_sum(unit("h1.jp"), 1, "probe", 25, 25_000, 300)
    crawl = unit_sum(unit("h1.jp"), 1, "crawl", 70, 70_000, 900)
    counted = (CountedProbe(unit("h1.jp"), 1),)
    logs = [
        log(1, units=(probe,)),
        log(2, units=(replace(probe, ms=500),)),
        log(3, probed=counted),
        log(4, units=(crawl,), probed=counted),
    ]
    for place in (*order, *order):
        accept_log(database, world.agents["a"].identity, logs[place], world.now_ms, world.policy)
    (row,) = sums(world, "h1.jp", "a", "crawl")
    assert (row.requests, row.response_bytes, row.ms) == (120, 120_000, 1700)
    (row,) = sums(world, "h1.jp", "a", "probe")
    assert (row.requests, row.response_bytes, row.ms) == (50, 50_000, 800)


def test_the_clock_judges_each_right_by_its_own_lines(database: Database) -> None:
    """The probe had a right before that of the crawl: neither explains the time of both."""
    world = ready(database)
    world.run()
    owner = owners(world)["h1.jp"]
    number = world.agents[owner].identity.id
    with database.read() as tx:
        (unit_id,) = ids_of_units(tx, [unit("h1.jp")]).values()
        times = {
            kind: next(
                one for one in right_times(tx, number, 1, kind, 100) if one.unit_id == unit_id
            )
            for kind in ("probe", "crawl")
        }
        (of_probe,) = probe_times(tx, number, 1, [unit_id]).values()
    assert {(one.requests, one.said_pages) for one in times.values()} == {(50, 50)}
    (crawl,), (probe,) = (sums(world, "h1.jp", owner, kind) for kind in ("crawl", "probe"))
    assert times["probe"].ms == of_probe == probe.ms
    assert times["crawl"].ms == crawl.ms - probe.ms
