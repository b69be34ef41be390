"""Report of a round: planned cost, measured cost, and their difference.

Planned and measured are milliseconds of transfer, one request after the other, as the source
counts them; an agent's capacity is taken out again. The error is measured over planned, less 1; of
an agent that fetched no page it is not known, however long its requests waited for an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from manager.db.engine import Database
from manager.db.fleet.link_counts import LinkKindSum
from manager.operations.rounds.rounds import RoundDetail, round_detail
from shared.frozen import frozen
from shared.ratios import MOST_TIMES, change_of

__all__ = ["AgentReport", "RoundReport", "report_of", "round_report"]


@frozen
class AgentReport:
    """One agent. planned_ms None: the plan did not know it. error: 0.25 is 25% more than planned;
    None: nothing was fetched, or nothing planned. failed: of its units, those of which not a single
    page came.

    elapsed_ms: how long the plan expected its work to take by the clock.
    """

    name: str
    units: int
    pages: int
    bytes: int
    planned_ms: float | None
    measured_ms: float
    error: float | None
    elapsed_ms: float | None
    failed: int = 0


@frozen
class RoundReport:
    """A round in numbers. planned_ms, measured_ms: the makespan; over whom, and how far apart.

    probes, units: how many are in each state. elapsed_ms: of the crawl, by the clock. link_kinds:
    what each kind of links brought, the most URLs first. failures: units that failed, by code.
    unresolved: hosts without an address, by code, which took no part.
    """

    number: int
    state: str
    method: str
    started_ms: int
    finished_ms: int | None
    probes: dict[str, int]
    units: dict[str, int]
    pages: int
    bytes: int
    planned_ms: float | None
    planned_agent: str
    bound_ms: float | None
    measured_ms: float
    measured_agent: str
    error: float | None
    elapsed_ms: int | None
    agents: list[AgentReport]
    link_kinds: list[LinkKindSum]
    failures: dict[str, int] = field(default_factory=dict)
    unresolved: dict[str, int] = field(default_factory=dict)


def round_report(db: Database, number: int) -> RoundReport:
    """Return the report of a round, also of the present one. Raises NotFoundError."""
    return report_of(round_detail(db, number))


def report_of(detail: RoundDetail, of_plan: Sequence[dict[str, Any]] | None = None) -> RoundReport:
    """Return the report of a round whose detail is at hand.

    of_plan: what its plan says of each agent, where the detail was asked for without.
    """
    if of_plan is None:
        of_plan = detail.plan.agents if detail.plan is not None else []
    planned = {one["name"]: one for one in of_plan}
    done = {one["name"]: one for one in detail.agents}
    agents = [_agent(name, done.get(name), planned.get(name)) for name in {**planned, **done}]
    agents.sort(key=lambda one: (-one.measured_ms, one.name))
    expected = max(
        (one for one in agents if one.planned_ms is not None),
        key=lambda one: one.planned_ms or 0.0,
        default=None,
    )
    slowest = agents[0] if agents else None
    planned_ms = expected.planned_ms if expected is not None else None
    measured_ms = slowest.measured_ms if slowest is not None else 0.0
    row = detail.round
    return RoundReport(
        number=row.number,
        state=row.state,
        method=row.method,
        started_ms=row.started_ms,
        finished_ms=row.finished_ms,
        probes=detail.orders,
        units=detail.units,
        pages=sum(one.pages for one in agents),
        bytes=sum(one.bytes for one in agents),
        planned_ms=planned_ms,
        planned_agent=expected.name if expected is not None else "",
        bound_ms=detail.bound_ms,
        measured_ms=measured_ms,
        measured_agent=slowest.name if slowest is not None and slowest.measured_ms else "",
        error=_error(measured_ms, planned_ms, sum(one.pages for one in agents)),
        elapsed_ms=row.elapsed_ms,
        agents=agents,
        link_kinds=detail.link_kinds,
        failures=detail.failures,
        unresolved=detail.unresolved,
    )


def _agent(name: str, done: dict[str, Any] | None, planned: dict[str, Any] | None) -> AgentReport:
    planned_ms = planned["after_ms"] * planned.get("capacity", 1.0) if planned else None
    measured_ms = float(done["measured_ms"]) if done else 0.0
    pages = done["pages"] if done else 0
    return AgentReport(
        name=name,
        units=sum(done["units"].values()) if done else 0,
        pages=pages,
        bytes=done["bytes"] if done else 0,
        planned_ms=planned_ms,
        measured_ms=measured_ms,
        error=_error(measured_ms, planned_ms, pages),
        elapsed_ms=planned.get("elapsed_ms") if planned else None,
        failed=done["units"].get("failed", 0) if done else 0,
    )


def _error(measured_ms: float, planned_ms: float | None, pages: int) -> float | None:
    ratio = change_of(measured_ms, planned_ms)
    if ratio is None or not pages or not measured_ms or ratio > MOST_TIMES:
        return None
    return ratio - 1
