"""An agent that lies is named, and its lies move no plan; what it claimed stays to be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.measurement import measurements, predictions
from manager.db.measurement.measurements import SumRow
from manager.distance.doubts import Doubt, Evidence, Fault
from manager.distance.line_sums import UnitSum
from manager.errors import ConflictError, NotFoundError
from manager.operations.fleet.agents import agent_detail
from manager.operations.health.consistency_checks import check
from manager.operations.hosts.host_views import host_detail
from manager.operations.measurement.claim_review import believe_agent, review_agents
from manager.operations.measurement.claims import (
    Period,
    doubts_of,
    periods_of,
    with_fast_lines,
    written,
)
from manager.operations.people.audit_log import audit_page
from manager.operations.planning.plans import plan_detail
from manager.operations.rounds.rounds import make_plan, round_detail, start_round
from tests.manager.log_sums import unit_sum
from tests.manager.operations.kept_worlds import kept_world
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

NAMES = ("a", "b", "c")
HOSTS = tuple(f"h{number}.jp" for number in range(18))
LIAR = "b"

Lie = Callable[[UnitSum], UnitSum]


def times(factor: float) -> Lie:
    """Return a lie about times."""
    return lambda one: replace(one, ms=round(one.ms * factor))


def sizes(factor: float) -> Lie:
    """Return a lie about bytes."""
    return lambda one: replace(one, response_bytes=round(one.response_bytes * factor))


def lines(factor: float) -> Lie:
    """Return a lie about how many lines there are, with right bytes a line and right times."""
    return lambda one: replace(
        one,
        requests=round(one.requests * factor),
        pages=round(one.pages * factor),
        response_bytes=round(one.response_bytes * factor),
    )


def impossible(one: UnitSum) -> UnitSum:
    """Add the line of the observation, as intake sets it apart."""
    return replace(one, odd_lines=1, odd_bytes=10**12, odd_ms=1)


class _World(World):
    """A world with one agent that lies in its logs."""

    lie: Lie | None = None

    def report(self, name: str) -> None:
        if self.lie is not None and name == LIAR:
            agent = self.agents[name]
            agent.lines = [self.lie(one) for one in agent.lines]
        super().report(name)


def one_round(world: World) -> None:
    """Let a round of probes and crawls pass."""
    start_round(world.db, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.run()


@kept_world
def prepared(database: Database) -> _World:
    """Return a world of three agents after an honest round."""
    world = _World(database)
    world.join(*NAMES)
    world.hosts(*HOSTS)
    one_round(world)
    return world


def planned(world: World) -> float:
    """Return the makespan of a plan that is made now."""
    number = make_plan(world.db, "prices", ADMIN, world.now_ms, policy=world.policy)
    makespan_ms = plan_detail(world.db, number).plan.makespan_ms
    assert makespan_ms is not None
    return makespan_ms


def doubts(world: World, name: str = LIAR) -> set[Fault]:
    """Return what is doubted of an agent."""
    row = agent_detail(world.db, name, world.now_ms).view.row
    return {one.fault for one in doubts_of(row)}


def distances(world: World) -> dict[str, list[float | None]]:
    """Return the measured distances of each host."""
    return {
        host: [
            row.ms_per_kb
            for row in host_detail(world.db, host).distances
            if row.state != "predicted"
        ]
        for host in HOSTS
    }


def alerts(world: World, action: str) -> list[str]:
    """Return the subjects of alerts of a kind."""
    rows = audit_page(world.db, limit=1000)
    return [row.subject for row in rows if row.action == action and row.alert]


@pytest.mark.parametrize(
    ("lie", "faults"),
    [
        (times(10), {Fault.TIMES}),
        (times(0.1), {Fault.TIMES}),
        (times(0), {Fault.TIMES}),
        (sizes(10), {Fault.BYTES}),
        (sizes(0.1), {Fault.BYTES}),
        (lines(0.1), {Fault.LINES}),
        (lines(10), {Fault.LINES}),
    ],
    ids=[
        "times x 10",
        "times by 10",
        "no time",
        "bytes x 10",
        "bytes by 10",
        "lines by 10",
        "lines x 10",
    ],
)
def test_what_a_liar_claims_moves_no_plan(database: Database, lie: Lie, faults: set[Fault]) -> None:
    """Plans, distances and volumes are as before the lie; the agent is named; nobody else is."""
    world = prepared(database)
    makespan, before = planned(world), distances(world)
    volumes = {host: host_detail(database, host).units[0].volume_kb for host in HOSTS}
    world.lie = lie
    for _ in range(2):
        one_round(world)
        assert planned(world) == pytest.approx(makespan, rel=0.02)
        assert distances(world) == before
        assert {host: host_detail(database, host).units[0].volume_kb for host in HOSTS} == volumes
        assert doubts(world) == faults
        assert doubts(world, "a") == doubts(world, "c") == set()
    assert alerts(world, "agent.suspect") == [LIAR]
    assert check(database) == []


@pytest.mark.parametrize("factor", [0.1, 10])
def test_lines_that_are_wrong_from_the_first_log_on_make_no_wrong_volume(
    database: Database, factor: float
) -> None:
    """The others' probes and the agent's times tell how large its units are, and how far."""
    world = _World(database)
    world.join(*NAMES)
    world.hosts(*HOSTS)
    world.lie = lines(factor)
    one_round(world)
    planned(world)
    assert doubts(world) == {Fault.LINES}
    volumes = {host: host_detail(database, host).units[0].volume_kb for host in HOSTS}
    assert volumes == {host: pytest.approx(100, rel=0.05) for host in HOSTS}
    names = {agent.identity.id: name for name, agent in world.agents.items()}
    for host in HOSTS:
        for row in host_detail(database, host).distances:
            if row.state != "predicted":
                true = world.distance(names[row.agent_id], f"http://{host}:80/")
                assert row.ms_per_kb == pytest.approx(true, rel=0.05)


def test_a_plan_at_once_is_made_without_the_lie(database: Database) -> None:
    """Nobody has to wait for the clock: the claims are reviewed before a plan is made."""
    world = prepared(database)
    makespan = planned(world)
    world.lie = times(10)
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    world.wait(world.policy.tick_s)
    world.tick()
    for name in NAMES:
        world.call(name)
        world.work(name)
        world.call(name)
    assert planned(world) == pytest.approx(makespan, rel=0.02)


def test_an_agent_is_sound_when_it_is_honest_again(database: Database) -> None:
    """Its honest claims count; those of the time of the lie never do."""
    world = prepared(database)
    before = distances(world)
    world.lie = times(10)
    one_round(world)
    world.lie = None
    one_round(world)
    assert doubts(world) == set()
    assert distances(world) == before
    row = agent_detail(database, LIAR, world.now_ms).view.row
    assert row.suspect_reason is None
    assert [period.last_age is not None for period in periods_of(row)] == [True]


def test_a_person_may_believe_an_agent(database: Database) -> None:
    """Its line has become slow in truth: its claims count then, and judge later ones."""
    world = prepared(database)
    world.agents[LIAR].speed = 10.0
    one_round(world)
    assert doubts(world) == {Fault.TIMES}
    makespan = planned(world)
    believe_agent(database, LIAR, ADMIN, world.now_ms)
    assert doubts(world) == set()
    assert planned(world) > makespan
    one_round(world)
    assert doubts(world) == set()
    with pytest.raises(ConflictError, match="no claim of it is doubted"):
        believe_agent(database, LIAR, ADMIN, world.now_ms)
    with pytest.raises(NotFoundError):
        believe_agent(database, "nobody", ADMIN, world.now_ms)
    assert [row.action for row in audit_page(database, subject=LIAR)].count(
        "agent.clear-doubts"
    ) == 1


def test_impossible_lines_are_an_alert_with_the_agents_name_and_count_nowhere(
    database: Database,
) -> None:
    """They stay in the sums beside what counts; nothing else of the agent is doubted."""
    world = prepared(database)
    makespan, before = planned(world), distances(world)
    world.lie = impossible
    one_round(world)
    assert set(alerts(world, "log.find-impossible")) == {LIAR}
    assert planned(world) == pytest.approx(makespan, rel=0.02)
    assert distances(world) == before
    assert doubts(world) == set()
    number = world.agents[LIAR].identity.id
    with database.read() as tx:
        units = measurements.units_since(tx, number, 2)
        rows = measurements.sums_of_agent(tx, number, units)
    assert {row.odd_bytes for row in rows if row.round == 2} == {10**12}


def test_a_unit_of_impossible_lines_only_is_not_unreachable(database: Database) -> None:
    """Its newest distance stays what it was."""
    world = prepared(database)
    before = distances(world)
    world.lie = lambda one: impossible(unit_sum(one.unit, one.round, one.kind, 0, 0, 0))
    one_round(world)
    assert distances(world) == before


def test_the_makespan_of_a_round_is_told_without_the_lie(database: Database) -> None:
    """Of what a doubted agent claims for all its units, the factor is taken out."""
    world = prepared(database)
    honest = round_detail(database, 1).round.makespan_ms
    world.lie = times(10)
    one_round(world)
    assert honest is not None
    told = round_detail(database, 2).round.makespan_ms
    assert told is not None
    assert told <= 1.3 * honest


def test_the_model_is_not_learned_from_what_is_doubted(database: Database) -> None:
    """It is forgotten with the verdict and made anew from what counts."""
    world = prepared(database)
    world.lie = times(0.1)
    one_round(world)
    with database.read() as tx:
        ids = [row.id for row in agents.all_agents(tx)]
        learned = predictions.training_probes(tx, ids, 1000)
    liar = world.agents[LIAR].identity.id
    assert min(length for _, agent, length in learned if agent == liar) >= 1


@pytest.mark.parametrize("lie", [times(10), sizes(10), lines(10)], ids=["times", "bytes", "lines"])
def test_a_review_reads_no_agents_that_say_nothing_of_it(
    database: Database, monkeypatch: pytest.MonkeyPatch, lie: Lie
) -> None:
    """The work for one sender's log does not grow with the fleet: all others wait for it."""
    world = prepared(database)
    world.lie = lie
    one_round(world)
    with database.write() as tx:
        agents.update(tx, world.agents[LIAR].identity.id, doubts="")
        for number in range(300):
            agents.add(tx, f"idle{number}", "sync", f"{number:064d}", world.now_ms)
        row = agents.by_name(tx, LIAR)
        assert row is not None
        read = [0]
        rows = Transaction.rows

        def counted(self: Transaction, kind: type[Any], *asked: Any) -> list[Any]:
            found = rows(self, kind, *asked)
            read[0] += len(found) if kind is agents.AgentRow else 0
            return found

        monkeypatch.setattr(Transaction, "rows", counted)
        assert review_agents(tx, [row], world.policy, world.now_ms) == [row.id]
    assert 0 < read[0] < 300


def test_doubts_are_kept_as_they_are() -> None:
    """What is written is read again."""
    periods = [
        Period(4, 5, (Doubt(Fault.TIMES, 9.7, 40, Evidence.HISTORY),)),
        Period(7, None, (Doubt(Fault.SCATTERED_BYTES, 1.0, 12, Evidence.OTHERS),)),
    ]

    class Row:
        doubts = written(periods)

    assert periods_of(Row()) == periods  # type: ignore[arg-type]  # it has what is read


def test_lines_that_are_only_too_fast_count_for_bytes() -> None:
    """An agent that logs no times makes no unit smaller; a terabyte in 1 ms counts nowhere."""
    row = SumRow(
        1, 1, None, 0, round=1, kind="crawl", requests=20, pages=20, errors=0, request_bytes=0,
        response_bytes=2_000_000, ms=0, failed=0, slowest_ms=0, slowest_bytes=0, spread="",
        odd_lines=2, odd_bytes=1_500_000,
    )  # fmt: skip
    counted = with_fast_lines(row)
    assert (counted.requests, counted.response_bytes) == (22, 3_500_000)
    absurd = replace(row, odd_bytes=10**12)
    assert with_fast_lines(absurd) == absurd
    alone = replace(row, requests=0, response_bytes=0)
    assert with_fast_lines(alone) == alone
