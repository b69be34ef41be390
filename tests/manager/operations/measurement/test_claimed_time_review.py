"""Claims are held against the manager's own clock: of an agent that nobody knows yet, too."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.db.ownership.right_times import right_times
from manager.distance.doubts import Evidence, Fault
from manager.distance.line_sums import UnitSum
from manager.operations.fleet.agents import agent_detail
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import host_detail
from manager.operations.measurement.claims import doubts_of
from manager.operations.people.audit_log import audit_page
from tests.manager.operations.timed import Lie, TimedWorld

pytestmark = pytest.mark.scenario

NAMES = ("a", "b", "c")
HOSTS = tuple(f"h{number}.jp" for number in range(18))
LIAR = "b"


def times(factor: float, *, of_half: bool = False, kinds: str = "probe crawl") -> Lie:
    """Return a lie about times."""

    def lie(one: UnitSum) -> UnitSum:
        is_true = of_half and zlib.crc32(one.unit.encode()) % 2 == 1
        if is_true or one.kind not in kinds:
            return one
        return replace(one, ms=round(one.ms * factor))

    return lie


def at_random(one: UnitSum) -> UnitSum:
    """Lie by another factor for each unit, from a tenth to ten times."""
    share = zlib.crc32(one.unit.encode()) / 2**32
    return replace(one, ms=round(one.ms * 10 ** (2 * share - 1)))


def begun(database: Database, *, slow: float = 1.0) -> TimedWorld:
    """Return a world in which nothing was fetched yet; the liar may be slow in truth."""
    world = TimedWorld(database)
    world.join(*NAMES)
    world.agents[LIAR].speed = slow
    world.hosts(*HOSTS)
    return world


def counted(world: TimedWorld, name: str = LIAR) -> dict[str, float]:
    """Return what counts over what is true, of the units that an agent measured."""
    number = world.agents[name].identity.id
    found = {}
    for host in HOSTS:
        for row in host_detail(world.db, host).distances:
            if row.agent_id == number and row.state != "predicted" and row.ms_per_kb is not None:
                found[host] = row.ms_per_kb / world.distance(name, f"http://{host}:80/")
    return found


def doubts(world: TimedWorld, name: str = LIAR) -> set[tuple[Fault, Evidence]]:
    """Return what is doubted of an agent, and by what."""
    row = agent_detail(world.db, name, world.now_ms).view.row
    return {(one.fault, one.evidence) for one in doubts_of(row)}


LIES: dict[str, Callable[[], Lie]] = {
    "times x 10": lambda: times(10),
    "times by 10": lambda: times(0.1),
    "times x 3": lambda: times(3),
    "times by 3": lambda: times(1 / 3),
    "no time": lambda: times(0),
    "half x 10": lambda: times(10, of_half=True),
    "half by 10": lambda: times(0.1, of_half=True),
    "at random": lambda: at_random,
}


@pytest.mark.slow
@pytest.mark.parametrize("slow", [1.0, 8.0])
@pytest.mark.parametrize("lie", LIES)
def test_who_lies_from_its_first_log_on_counts_as_the_clock_says(
    database: Database, lie: str, slow: float
) -> None:
    """True times count within a quarter in the middle, and twice at most, after the first round.

    Also of a liar that is slow in truth; nobody else is blamed.
    """
    world = begun(database, slow=slow)
    world.lie = LIES[lie]()
    world.crawl_round()
    off = sorted(max(one, 1 / one) for one in counted(world).values())
    assert len(off) == len(HOSTS)
    assert off[len(off) // 2] <= 1.25
    assert off[-1] <= 2
    assert doubts(world)
    assert doubts(world, "a") == doubts(world, "c") == set()
    subjects = {one.subject for one in audit_page(database, limit=1000) if one.alert}
    assert subjects == {LIAR}
    assert check(database) == []


def test_an_honest_new_agent_that_is_slow_is_never_doubted(database: Database) -> None:
    """Its claims count as they came, without a person."""
    world = begun(database, slow=10.0)
    world.crawl_round()
    assert doubts(world) == set()
    assert all(one == pytest.approx(1.0, rel=0.01) for one in counted(world).values())
    assert [one for one in audit_page(database, limit=1000) if one.alert] == []


@pytest.mark.slow
def test_an_agent_whose_line_becomes_slow_in_truth_is_believed(database: Database) -> None:
    """Its own past speaks against it, the clock for it; what it did not fetch again stays."""
    world = begun(database)
    world.crawl_round()
    world.agents[LIAR].speed = 10.0
    world.crawl_round()
    assert doubts(world) == set()
    with database.read() as tx:
        crawled = right_times(tx, world.agents[LIAR].identity.id, 2, "crawl", 100)
    right = [one for one in counted(world).values() if one == pytest.approx(1.0, rel=0.01)]
    assert len(right) == len(crawled) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("kinds", ["probe", "crawl"])
def test_a_lie_in_one_kind_of_logs_only_counts_nowhere(database: Database, kinds: str) -> None:
    """What the other kind says is true counts."""
    world = begun(database)
    world.lie = times(0.1, kinds=kinds)
    world.crawl_round()
    assert all(1 / 2 <= one <= 2 for one in counted(world).values())


@pytest.mark.slow
@pytest.mark.parametrize("growth", [1.5, 1 / 1.5])
def test_a_lie_that_grows_slowly_gets_nowhere(database: Database, growth: float) -> None:
    """Each round differs little from the one before; it is found in its third round, before it is
    one jump, and no more than two rounds of it count."""
    world = begun(database)
    world.crawl_round()
    for number in range(1, 6):
        world.lie = times(growth**number)
        world.crawl_round()
        assert all(1 / 2.5 <= one <= 2.5 for one in counted(world).values())
    assert doubts(world)


def test_a_right_counts_from_the_first_list_that_names_it(database: Database) -> None:
    """An agent that did not call since a right was given could not begin; lists that come again
    change nothing."""
    world = begun(database)
    world.crawl_round()
    number = world.agents[LIAR].identity.id
    with database.read() as tx:
        rows = right_times(tx, number, 1, "probe", 100)
    assert {row.unit_id for row in rows if row.finished} == set(range(1, len(HOSTS) + 1))
    for row in rows:
        assert row.requests == row.said_pages == world.policy.probe_pages
        assert row.ms is not None
        assert row.until_ms - row.since_ms >= row.ms
    agent = world.agents[LIAR].identity
    with database.read() as tx:
        assert right_times(tx, agent.id, 2, "crawl", 100) == []
