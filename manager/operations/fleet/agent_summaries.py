"""Overview of all agents: how each is, for lists of which a page shows fifty, maps and numbers.

What else a page shows of those it does show, `agents.agent_views` returns.
"""

from __future__ import annotations

from typing import Any

from manager.assignment.liveness import Liveness
from manager.db.engine import Database
from manager.db.fleet import agent_summaries
from manager.db.fleet.agent_summaries import OverviewRow
from manager.operations.fleet.agents import work_by_agent
from manager.operations.fleet.takeover import IDLE, liveness_of
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.frozen import frozen

__all__ = ["AgentOverview", "agent_column", "agent_overviews", "agents_with_alerts"]


@frozen
class AgentOverview:
    """An agent as one of many: who and how it is, and how many units it owns."""

    row: OverviewRow
    liveness: Liveness
    units_owned: int


def agent_overviews(
    db: Database, now_ms: int, policy: Policy = DEFAULT_POLICY
) -> list[AgentOverview]:
    """Return all agents by name, retired ones last; how many units they have may be kept."""
    with db.read() as tx:
        rows = agent_summaries.all_overview_rows(tx)
    work = work_by_agent(db)
    rows.sort(key=lambda row: (row.retired_ms is not None, row.name))
    found = []
    for row in rows:
        of_agent = work.get(row.id, IDLE)
        how = liveness_of(row, of_agent, now_ms, policy)
        found.append(AgentOverview(row, how, of_agent.owned))
    return found


def agent_column(db: Database, name: str) -> dict[int, Any]:
    """Return one column of all agents by their numbers, to sort by."""
    with db.read() as tx:
        return agent_summaries.column(tx, name)


def agents_with_alerts(db: Database, *, skew_ms: int, disk_bytes: int, reports: int) -> set[int]:
    """Return the numbers of agents of which there is something to tell, but for their liveness.

    skew_ms: a clock that differs by more. disk_bytes: less than that is left. reports: so many
    wait.
    """
    with db.read() as tx:
        found = agent_summaries.with_alerts(
            tx, skew_ms=skew_ms, disk_bytes=disk_bytes, reports=reports
        )
    return set(found)
