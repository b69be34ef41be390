"""All agents as lists and numbers need them: a dozen of their sixty columns, others by name."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import sqlalchemy as sa

from manager.db.fleet.agents import AgentSummary
from manager.db.tables import agents
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "MachineRow",
    "OverviewRow",
    "all_overview_rows",
    "column",
    "machines_with_alerts",
    "unanswered_hosts",
    "with_alerts",
]


@frozen
class OverviewRow(AgentSummary):
    """An agent as one of many.

    state_reason: as the row has it, for most callers do not read it (`message_of_row`).
    """

    state_reason: str


@frozen
class MachineRow:
    """Last reported machine state of an agent. skew_ms: its clock minus the manager's."""

    id: int
    skew_ms: int
    disk_free_bytes: int | None
    reports_waiting: int


def all_overview_rows(tx: Transaction) -> list[OverviewRow]:
    """Return all agents by number, retired ones too."""
    reason = sa.type_coerce(agents.c.state_reason, sa.Text()).label("state_reason")
    query = sa.select(*(agents.c[one.name] for one in fields(AgentSummary)), reason)
    return tx.rows(OverviewRow, query.order_by(agents.c.id))


def unanswered_hosts(tx: Transaction) -> dict[int, int]:
    """Return of agents, by number, about how many hosts their name servers do not answer them."""
    c = agents.c
    said = sa.and_(
        c.counters.like('%"unanswered_hosts":%'), c.counters.not_like('%"unanswered_hosts":0%')
    )
    rows = tx.execute(sa.select(c.id, c.counters).where(said))
    return {row.id: int(json.loads(row.counters)["unanswered_hosts"]) for row in rows}


def column(tx: Transaction, name: str) -> dict[int, Any]:
    """Return one column of all agents by their numbers, to sort by."""
    return dict(tx.tuples(sa.select(agents.c.id, agents.c[name])))


def with_alerts(tx: Transaction, *, skew_ms: int, disk_bytes: int, reports: int) -> list[int]:
    """Return the agents that run twice, are suspect, have something left to do, or not enough.

    skew_ms: a clock that differs by more. disk_bytes: less than that is left. reports: so many
    wait.
    """
    c = agents.c
    alerts = sa.or_(
        c.clone_reason != "",
        c.suspect_since_ms.is_not(None),
        c.restart_ordered_ms.is_not(None),
        sa.and_(c.command_id != "", c.command_done_ms.is_(None)),
        _has_weak_machine(skew_ms, disk_bytes, reports),
    )
    return tx.values(sa.select(c.id).where(alerts))


def machines_with_alerts(
    tx: Transaction, *, skew_ms: int, disk_bytes: int, reports: int
) -> list[MachineRow]:
    """Return agents whose machine has one of these: limits as `with_alerts` has them."""
    c = agents.c
    query = sa.select(c.id, c.skew_ms, c.disk_free_bytes, c.reports_waiting)
    return tx.rows(MachineRow, query.where(_has_weak_machine(skew_ms, disk_bytes, reports)))


def _has_weak_machine(skew_ms: int, disk_bytes: int, reports: int) -> sa.ColumnElement[bool]:
    c = agents.c
    low = c.disk_free_bytes < disk_bytes
    return sa.or_(sa.func.abs(c.skew_ms) > skew_ms, low, c.reports_waiting >= reports)
