"""The report of a round: planned, measured, and how far the two are apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from manager.db.engine import Database
from manager.errors import NotFoundError
from manager.operations import agent_rounds
from manager.operations.agent_rounds import every_round_of_agent, rounds_of_agent
from manager.operations.round_report import report_of, round_report
from manager.operations.rounds import round_detail, start_round
from tests.manager.operations.test_plans import measured
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
    assert report_of(brief, whole.plan["agents"]) == report
    with pytest.raises(NotFoundError):
        round_report(database, 9)
