"""Nobody is named who tells the truth: slow nights, far countries, changed hosts, half logs."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.distance.doubts import Fault
from manager.operations.fleet.agents import agent_detail
from manager.operations.measurement.claims import doubts_of
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.rounds import start_round
from tests.manager.log_sums import unit_sum
from tests.manager.operations.timed import TimedWorld
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

NAMES = ("a", "b", "c")
HOSTS = tuple(f"h{number}.jp" for number in range(24))
FIRST_LINES = 5


def share_of(text: str) -> float:
    """Return a number from 0 to 1 that belongs to a text."""
    return zlib.crc32(text.encode()) / 2**32


class _Honest(World):
    """A world whose agents log what they see.

    slow: how much slower an agent is in a round than it was. changed: bytes of a unit in a round,
    as an agent sees them, over the usual.
    """

    slow: dict[tuple[str, int], float]

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.slow = {}

    def changed(self, name: str, unit: str, number: int) -> float:
        """Return how many times as many bytes an agent sees as usual."""
        return 1.0

    def report(self, name: str) -> None:
        agent = self.agents[name]
        agent.lines = [
            replace(
                one,
                response_bytes=round(
                    one.response_bytes * (size := self.changed(name, one.unit, one.round))
                ),
                ms=round(one.ms * size * self.slow.get((name, one.round), 1.0)),
            )
            for one in agent.lines
        ]
        super().report(name)


class _InPieces(_Honest):
    """Agents send the first lines of each crawl long before the rest, as long crawls do.

    The first pages of a host are unlike the others: small here, large there.
    """

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.begun: set[tuple[str, int]] = set()

    def work(self, name: str, most: int | None = None) -> int:
        agent = self.agents[name]
        fetchable = agent.fetchable(self.true_ms)
        fresh = [
            (unit, work.round)
            for unit, work in sorted(fetchable.items())
            if work.kind == "crawl" and (unit, work.round) not in self.begun
        ][:most]
        if not fresh:
            return super().work(name, most)
        for unit, number in fresh:
            self.begun.add((unit, number))
            lines, small = FIRST_LINES, share_of(unit) < 0.5
            size, ms = (60, 1) if small else (30_000, 400)
            agent.lines.append(unit_sum(unit, number, "crawl", lines, lines * size, lines * ms))
        self.report(name)
        return len(fresh)


def prepared(world: World, names: tuple[str, ...] = NAMES, hosts: int = len(HOSTS)) -> None:
    """Let agents join and import hosts."""
    world.join(*names)
    world.hosts(*HOSTS[:hosts])


def one_round(world: World) -> None:
    """Let a round of probes and crawls pass."""
    start_round(world.db, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.run()


def named(world: World) -> list[tuple[str, str]]:
    """Return the audit rows that name an agent suspect, whether taken back or not."""
    rows = audit_page(world.db, limit=1000)
    return [(row.subject, str(row.detail)) for row in rows if row.action == "agent.suspect"]


def faults(world: World, name: str) -> set[Fault]:
    """Return what is doubted of an agent."""
    row = agent_detail(world.db, name, world.now_ms).view.row
    return {one.fault for one in doubts_of(row)}


def test_claims_of_a_crawl_that_goes_on_are_not_compared_with_whole_ones(
    database: Database,
) -> None:
    """The first lines of each unit say nothing of its bytes or times."""
    world = _InPieces(database)
    prepared(world)
    for _ in range(2):
        one_round(world)
    assert named(world) == []
    assert all(not faults(world, name) for name in NAMES)


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_hosts_that_change_between_rounds_make_nobody_suspect(
    database: Database, share: float
) -> None:
    """Some hosts have ten times as many bytes in a later round, others a tenth."""

    class Changing(_Honest):
        def changed(self, name: str, unit: str, number: int) -> float:
            chance = share_of(f"{unit} {number}")
            return 1.0 if chance > share else 10.0 if chance > share / 2 else 0.1

    world = Changing(database)
    prepared(world)
    for _ in range(3):
        one_round(world)
    assert named(world) == []


def test_hosts_that_serve_other_pages_to_another_country_make_nobody_suspect(
    database: Database,
) -> None:
    """A fifth of the hosts shows one agent a page of a tenth of the bytes."""

    class Abroad(_Honest):
        def changed(self, name: str, unit: str, number: int) -> float:
            return 0.1 if name == "b" and share_of(unit) < 0.2 else 1.0

    world = Abroad(database)
    prepared(world)
    for _ in range(2):
        one_round(world)
    assert named(world) == []


class _Elsewhere(TimedWorld):
    """One agent is near to a third of the hosts and far from the rest, where the others are."""

    def distance(self, name: str, unit: str) -> float:
        is_there = share_of(unit) < 1 / 3
        return super().distance(name, unit) * (0.15 if is_there == (name == "b") else 1.5)


@pytest.mark.slow
def test_an_agent_in_another_part_of_the_network_is_not_suspect(database: Database) -> None:
    """Its distances are the opposite of the others', which is what balancing is for."""
    world = _Elsewhere(database)
    prepared(world)
    for _ in range(2):
        world.crawl_round()
    assert named(world) == []
    assert not faults(world, "b")


def test_an_agent_elsewhere_is_not_suspect_where_the_clock_cannot_tell(database: Database) -> None:
    """Beside the others alone, true distances of another country look scattered."""

    class Elsewhere(_Honest):
        def distance(self, name: str, unit: str) -> float:
            is_there = share_of(unit) < 1 / 3
            return 40 * super().distance(name, unit) * (0.15 if is_there == (name == "b") else 1.5)

    world = Elsewhere(database)
    prepared(world)
    one_round(world)
    assert named(world) == []
    assert not faults(world, "b")


def test_a_night_that_is_slow_for_all_makes_nobody_suspect(database: Database) -> None:
    """What the times of the others have done, too, is no fault of one."""
    world = _Honest(database)
    prepared(world)
    one_round(world)
    world.slow = {(name, 2): factor for name, factor in zip(NAMES, (7.0, 4.5, 6.0), strict=True)}
    for _ in range(2):
        one_round(world)
    assert named(world) == []


def test_one_slow_night_of_one_agent_is_no_alert(database: Database) -> None:
    """Its times do not count, for nobody can tell; it is named if they go on."""
    world = _Honest(database)
    prepared(world)
    one_round(world)
    world.slow = {("b", 2): 4.5}
    one_round(world)
    assert faults(world, "b") == {Fault.TIMES}
    one_round(world)
    assert named(world) == []
    assert faults(world, "b") == set()
    world.slow = {("b", number): 4.5 for number in (4, 5)}
    for _ in range(2):
        one_round(world)
    assert {subject for subject, _ in named(world)} == {"b"}


@pytest.mark.parametrize(("names", "hosts"), [(("a", "b"), 24), (("a",), 8), (NAMES, 2)])
def test_nobody_is_suspect_in_small_fleets_and_of_few_units(
    database: Database, names: tuple[str, ...], hosts: int
) -> None:
    """An agent that is ten times slower in truth, too."""
    world = _Honest(database)
    prepared(world, names, hosts)
    world.agents[names[-1]].speed = 10.0
    for _ in range(2):
        one_round(world)
    assert named(world) == []
