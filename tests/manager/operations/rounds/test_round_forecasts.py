"""Forecasts of rounds: their ends, whom they wait for, what a person can do about it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.rounds import rounds
from manager.errors import ConflictError, NotFoundError
from manager.operations.health.alert_rules import present_alerts
from manager.operations.health.consistency_checks import check
from manager.operations.health.system_figures import system_figures_of
from manager.operations.people.audit_log import audit_page
from manager.operations.rounds.deadlines import carry_round
from manager.operations.rounds.predicted_plan import use_predictions
from manager.operations.rounds.round_forecast import (
    ForecastReason,
    RoundForecast,
    forecast_of_round,
    forecast_of_start,
)
from manager.operations.rounds.rounds import cancel_round, round_detail, start_round
from tests.manager.operations.health.no_alerts import OFF
from tests.manager.operations.slow_host import size_host
from tests.manager.operations.world import ADMIN, World

pytestmark = pytest.mark.scenario

HOUR_MS = 3_600_000
HOSTS = ("h1.jp", "h2.jp", "h3.jp")


def joined(database: Database, *names: str) -> World:
    """Return a world with agents and hosts."""
    world = World(database)
    world.join(*names)
    world.hosts(*HOSTS)
    return world


def sleep(world: World, name: str, hours: float) -> int:
    """Let an agent say that it sleeps so long; return until when."""
    until_ms = world.now_ms + round(hours * HOUR_MS)
    with world.db.write() as tx:
        number = world.agents[name].identity.id
        agents.update(
            tx, number, state="asleep", promised_ms=until_ms, permit_until_ms=until_ms + HOUR_MS
        )
    return until_ms


def turn(world: World, *names: str, work: bool = False) -> None:
    """Let the clock tick, and agents call before and after it."""
    for name in names:
        world.call(name)
    world.wait(world.policy.tick_s)
    world.tick()
    for name in names:
        world.call(name)
        if work:
            world.work(name)


def crawling(database: Database) -> World:
    """Return a world whose second round crawls."""
    world = joined(database, "a", "b")
    start_round(database, "random", ADMIN, world.now_ms, policy=world.policy)
    world.run()
    start_round(database, "keep", ADMIN, world.now_ms, probe=False, policy=world.policy)
    for _ in range(3):
        turn(world, "a", "b")
    assert round_detail(database, 2).round.state == "crawling"
    return world


def test_a_start_is_warned_of_agents_that_call_late(database: Database) -> None:
    """Before a round starts, its probes end when the last agent has called; nothing is written."""
    world = joined(database, "a", "b")
    policy = replace(world.policy, probe_timeout_s=86_400)
    found = forecast_of_start(database, policy, world.now_ms)
    assert found.warnings == ()
    assert [(one.reason, one.work) for one in found.agents] == [(ForecastReason.WORKING, 3)] * 2
    until_ms = sleep(world, "b", 8)
    found = forecast_of_start(database, policy, world.now_ms)
    (last, _), (warning,) = found.agents, found.warnings
    assert (last.agent, last.reason, last.until_ms) == ("b", ForecastReason.ASLEEP, until_ms)
    assert found.probing_end_ms is not None
    assert until_ms < found.probing_end_ms < until_ms + HOUR_MS
    assert str(warning).startswith("1 agent is inactive until later: probing will end about")
    assert found.end_ms is None, "no unit has an owner, so its crawl is not predicted"
    assert forecast_of_start(database, policy, world.now_ms, probe=False).agents == []


def test_probes_that_are_given_up_are_not_waited_for(database: Database) -> None:
    """An agent that sleeps longer than a probe may take holds the round no longer than that."""
    world = joined(database, "a", "b")
    sleep(world, "b", 100)
    found = forecast_of_start(database, world.policy, world.now_ms)
    timeout_ms = round(world.policy.probe_timeout_s * 1000)
    assert found.probing_end_ms == world.now_ms + timeout_ms


def test_a_round_that_probes_says_for_whom_it_waits(database: Database) -> None:
    """Each agent with its probes, why, and until when; what is measured is not waited for."""
    world = joined(database, "a", "b")
    start_round(database, "random", ADMIN, world.now_ms, policy=world.policy)
    turn(world, "a")
    until_ms = sleep(world, "b", 2)
    world.work("a")
    turn(world, "a", work=True)
    found = forecast_of_round(database, 1, world.policy, world.now_ms)
    assert {one.agent: one.reason for one in found.agents}["b"] is ForecastReason.ASLEEP
    assert found.agents[0].until_ms == until_ms
    assert len(forecast_of_round(database, 1, world.policy, world.now_ms, limit=1).agents) == 1
    with pytest.raises(NotFoundError):
        forecast_of_round(database, 7, world.policy, world.now_ms)


def test_the_end_is_predicted_stored_and_compared(database: Database) -> None:
    """A round has an expected end while it crawls, and the error of that when it is over."""
    world = crawling(database)
    row = round_detail(database, 2).round
    assert row.eta_ms is not None
    assert row.eta_made_ms is not None
    found = forecast_of_round(database, 2, world.policy, world.now_ms)
    assert found.expected_ms == row.eta_ms
    assert found.end_ms is not None
    assert sum(one.work for one in found.agents) == len(HOSTS)
    assert found.late_ms == 0
    world.run()
    row = round_detail(database, 2).round
    assert row.state == "finished"
    assert row.finished_ms is not None
    assert row.eta_ms is not None
    assert row.eta_made_ms is not None
    length = (row.finished_ms - row.eta_made_ms) / (row.eta_ms - row.eta_made_ms)
    assert row.eta_error == pytest.approx(length - 1)
    assert forecast_of_round(database, 2, world.policy, world.now_ms).agents == []


def test_what_is_fetched_is_not_predicted_again(database: Database) -> None:
    """The prediction goes by what is left; the deadline ends a round in any case."""
    world = crawling(database)
    before = forecast_of_round(database, 2, world.policy, world.now_ms)
    units = sorted(world.agents["a"].fetchable(world.true_ms))
    other = sorted(world.agents["b"].fetchable(world.true_ms))
    name, unit = ("a", units[0]) if units else ("b", other[0])
    world.fetch(name, unit)
    world.call(name)
    after = forecast_of_round(database, 2, world.policy, world.now_ms)
    assert sum(one.work for one in after.agents) == sum(one.work for one in before.agents) - 1


def test_a_deadline_bounds_the_prediction(database: Database) -> None:
    """A round with a deadline ends then, whatever is left."""
    world = joined(database, "a")
    until_ms = world.now_ms + 60_000
    start_round(
        database, "keep", ADMIN, world.now_ms, probe=False, until_ms=until_ms, policy=world.policy
    )
    turn(world, "a")
    found = forecast_of_round(database, 1, world.policy, world.now_ms)
    assert found.end_ms is not None
    assert found.end_ms <= until_ms


def test_a_share_of_the_units_bounds_the_prediction(database: Database) -> None:
    """A third of the hosts is done when the smallest is; the error is told, as for any round."""
    world = joined(database, "a")
    for at, name in enumerate(HOSTS):
        size_host(
            database,
            f"http://{name}:80/",
            10 ** (at + 1),
            [world.agents["a"].identity.id],
            world.now_ms,
        )
    start_round(
        database, "keep", ADMIN, world.now_ms, probe=False, until_share=0.3, policy=world.policy
    )
    turn(world, "a")
    found = forecast_of_round(database, 1, world.policy, world.now_ms)
    row = round_detail(database, 1).round
    assert found.end_ms is not None
    assert found.agents[0].end_ms is not None
    small_ms, large_ms = (found.end_ms - world.now_ms, found.agents[0].end_ms - world.now_ms)
    assert small_ms < large_ms / 50
    assert row.eta_ms == found.end_ms
    world.fetch("a", f"http://{HOSTS[0]}:80/")
    world.call("a")
    world.run()
    row = round_detail(database, 1).round
    assert (row.state, row.carried_ms is not None) == ("finished", True)
    assert row.eta_error is not None


def test_a_round_that_a_person_carries_over_has_no_error(database: Database) -> None:
    """Its share was not finished, so its prediction was not put to the test."""
    world = joined(database, "a")
    start_round(
        database, "keep", ADMIN, world.now_ms, probe=False, until_share=0.9, policy=world.policy
    )
    turn(world, "a")
    world.wait(60)
    with database.write() as tx:
        row = rounds.by_number(tx, 1)
        assert row is not None
        carry_round(tx, row, ADMIN, world.now_ms)
    world.run()
    row = round_detail(database, 1).round
    assert (row.state, row.eta_error) == ("finished", None)


def test_a_round_that_is_late_by_its_own_estimate_is_an_alert(database: Database) -> None:
    """It is said on its page as soon as it is late, and alerted when it is late by a fifth."""
    world = crawling(database)
    limits = replace(OFF, round_late_share=0.2)

    def keys(limits: object = limits) -> list[str]:
        seen = system_figures_of(database, Path("/"), world.policy, world.now_ms)
        found = present_alerts(database, seen, [], limits, world.now_ms)  # type: ignore[arg-type]  # two kinds of limits
        return [one.key for one in found if one.key.startswith("round:")]

    row = round_detail(database, 2).round
    assert row.eta_ms is not None
    assert row.eta_made_ms is not None
    assert keys() == []
    world.wait((row.eta_ms - world.now_ms) / 1000 + 1)
    found = forecast_of_round(database, 2, world.policy, world.now_ms)
    assert found.late_ms > 0
    assert "late: it was expected to end by" in str(found.warnings[0])
    assert keys() == []
    world.wait(max(600, 0.2 * (row.eta_ms - row.eta_made_ms) / 1000))
    assert keys() == ["round:2"]
    assert keys(OFF) == []
    world.run()
    assert keys() == []


def test_a_person_plans_with_predictions(database: Database) -> None:
    """Open probes stop, the plan is made at once, and the audit says who decided."""
    world = joined(database, "a", "b")
    with pytest.raises(ConflictError, match="no round is probing"):
        use_predictions(database, ADMIN, world.now_ms)
    start_round(database, "default", ADMIN, world.now_ms, policy=world.policy)
    turn(world, "a")
    sleep(world, "b", 5)
    world.work("a")
    turn(world, "a", work=True)
    assert round_detail(database, 1).round.state == "probing"
    with pytest.raises(ConflictError, match="round 9 is not probing"):
        use_predictions(database, ADMIN, world.now_ms, meant=9)
    assert use_predictions(database, ADMIN, world.now_ms) == (1, 3)
    world.tick()
    row = round_detail(database, 1)
    assert row.round.state == "crawling"
    assert row.round.predicted_ms == world.now_ms
    assert row.units == {"waiting": 3} or row.units.keys() <= {"waiting", "granted"}
    (entry,) = audit_page(database, action="round.use-predictions")
    assert entry.actor_name == "hana"
    with pytest.raises(ConflictError, match="no round is probing"):
        use_predictions(database, ADMIN, world.now_ms)
    world.run()
    assert round_detail(database, 1).round.state == "finished"
    assert check(database) == []


def test_predictions_stop_no_crawl_that_was_carried_over(database: Database) -> None:
    """What agents crawl for the round already, they continue to crawl."""
    world = crawling(database)
    for name in ("a", "b"):
        world.agents[name].unit_rounds = True
    turn(world, "a", "b")
    start_round(database, "default", ADMIN, world.now_ms, policy=world.policy)
    held = {name: set(world.agents[name].fetchable(world.true_ms)) for name in ("a", "b")}
    if round_detail(database, 3).round.state == "probing":
        use_predictions(database, ADMIN, world.now_ms)
    turn(world, "a", "b")
    for name in ("a", "b"):
        assert held[name] <= set(world.agents[name].fetchable(world.true_ms))
    world.run()
    assert check(database) == []
    with pytest.raises(ConflictError):
        cancel_round(database, ADMIN, world.now_ms)


def test_work_of_a_late_agent_counts_as_work_of_others(database: Database) -> None:
    """It begins elsewhere when its agent counts as lost: the end is known before that."""
    world = joined(database, "a", "b")
    ids = [one.identity.id for one in world.agents.values()]
    for name in HOSTS:
        size_host(database, f"http://{name}:80/", 1000, ids, world.now_ms)
    start_round(database, "random", ADMIN, world.now_ms, probe=False, policy=world.policy)
    turn(world, "a", "b")

    def forecast() -> RoundForecast:
        return forecast_of_round(database, 1, world.policy, world.now_ms)

    def is_known(reason: ForecastReason) -> bool:
        return reason in [one.reason for one in forecast().agents]

    works = forecast()
    assert works.end_ms is not None
    crawl_ms = works.end_ms - world.now_ms
    leaving, staying = works.agents[0].agent, works.agents[1].agent
    while not is_known(ForecastReason.LATE):
        turn(world, staying)
    late = forecast()
    (gone,) = [one for one in late.agents if one.agent == leaving]
    assert gone.until_ms is not None
    assert gone.end_ms is not None
    assert late.end_ms is not None
    # Its hosts are fetched from their first page, after the takeover.
    assert gone.end_ms - gone.until_ms > 0.9 * crawl_ms
    while is_known(ForecastReason.LATE):
        turn(world, staying)
    after = forecast()
    assert [one.agent for one in after.agents] == [staying]
    assert after.end_ms == pytest.approx(late.end_ms, abs=0.1 * crawl_ms)
