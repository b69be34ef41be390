"""The report of a round: planned, measured, and how far the two are apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.db.rounds.rounds import RoundRow
from manager.errors import NotFoundError
from manager.operations.fleet import agent_rounds
from manager.operations.fleet.agent_rounds import every_round_of_agent, rounds_of_agent
from manager.operations.planning.plan_facts import PlanFacts
from manager.operations.rounds.round_report import report_of, round_report
from manager.operations.rounds.rounds import RoundDetail, round_detail, start_round
from tests.manager.operations.planning.test_plans import measured
from tests.manager.operations.world import ADMIN


def test_a_round_is_reported(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second round was planned from what the first measured: they agree within 5 per cent."""
    monkeypatch.setattr(agent_rounds, "ROUNDS_AT_ONCE", 1)
    world = measured(database)
    start_round(database, "prices", ADMIN, world.now_ms, policy=world.policy)
    going_on = round_report(database, 2)
    assert (going_on.state, going_on.planned_ms, going_on.error) == ("probing", None, None)
    world.run()
    report = round_report(database, 2)
    assert (report.state, report.method, report.units) == ("finished", "prices", {"finished": 12})
    assert report.planned_ms is not None
    assert report.measured_ms == pytest.approx(report.planned_ms, rel=0.05)
    assert report.error == pytest.approx(report.measured_ms / report.planned_ms - 1)
    assert report.pages == sum(agent.pages for agent in report.agents) == 1200
    for agent in report.agents:
        assert agent.planned_ms is not None
        assert agent.measured_ms == pytest.approx(agent.planned_ms, rel=0.05)
        newest, *before = rounds_of_agent(database, agent.name, 5)
        assert (newest.round.number, [one.round.number for one in before]) == (2, [1])
        assert (newest.pages, newest.size_bytes) == (agent.pages, agent.bytes)
        assert newest.measured_ms == agent.measured_ms
        assert newest.units == {"finished": agent.units}
        assert list(every_round_of_agent(database, agent.name)) == [newest, *before]
    assert report.agents[0].name == report.measured_agent
    whole, brief = round_detail(database, 2), round_detail(database, 2, with_plan=False)
    assert whole.plan is not None
    assert brief == replace(whole, plan=None)
    assert report_of(brief, whole.plan.agents) == report
    with pytest.raises(NotFoundError):
        round_report(database, 9)


def detail_of(planned_ms: float, measured_ms: int, pages: int) -> RoundDetail:
    """Return a round of one agent."""
    row = RoundRow(
        number=1, method="tree", state="finished", probe=True, seed=1, started_by="x",
        started_ms=1, verified_ms=None, crawling_ms=2, finished_ms=3, reason=None, plan_id=1,
        makespan_ms=measured_ms, makespan_agent="a", elapsed_ms=1, refetch_ms=None,
        plan_moves=None,
    )  # fmt: skip
    done = {"name": "a", "units": {"finished": 4}, "pages": pages, "bytes": 0}
    plan = PlanFacts([{"name": "a", "after_ms": planned_ms}], [], (), [], None)
    return RoundDetail(row, {}, {}, [{**done, "measured_ms": measured_ms}], planned_ms, 1.0, plan)


@pytest.mark.parametrize(
    ("planned_ms", "measured_ms", "pages", "error"),
    [
        (2.0, 3990, 0, None),  # four hosts that never answered: +199375% once
        (0.0, 3990, 7, None),
        (1e-9, 3990, 7, None),
        (2000.0, 0, 7, None),
        (2000.0, 2500, 7, 0.25),
        (2.0, 3990, 7, 1994.0),
    ],
)
def test_an_error_is_of_what_was_fetched(
    planned_ms: float, measured_ms: int, pages: int, error: float | None
) -> None:
    """How long requests waited that nobody answered is not compared with a plan."""
    report = report_of(detail_of(planned_ms, measured_ms, pages))
    assert (report.error, report.agents[0].error) == (error, error)
