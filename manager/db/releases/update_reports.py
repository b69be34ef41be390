"""Reports of launchers on updates: one row for each change."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from manager.db.tables import agents, update_reports
from manager.db.transaction import Transaction, newest_first
from shared.frozen import frozen

__all__ = ["UpdateReportRow", "keep_newest", "newest", "take"]

_WHICH = ("agent_id", "at_ms", "version", "outcome", "step")


@frozen
class UpdateReportRow:
    """A report; `manager.db.tables.update_reports` says what each field is."""

    id: int
    agent: str
    at_ms: int
    version: str
    outcome: str
    step: str
    detail: str
    times: int
    reported_ms: int


def take(tx: Transaction, row: dict[str, Any]) -> bool:
    """Enter a report, or what is new of one that is known; tell whether anything was."""
    known = [update_reports.c[name] == row[name] for name in _WHICH]
    times = tx.value(sa.select(update_reports.c.times).where(*known))
    if times is not None and times >= row["times"]:
        return False
    tx.upsert(update_reports, [row], list(_WHICH))
    return True


def newest(tx: Transaction, agent_id: int | None, most: int) -> list[UpdateReportRow]:
    """Return the newest reports of an agent, or of all that take part."""
    query = sa.select(update_reports, agents.c.name.label("agent"))
    query = query.join(agents, agents.c.id == update_reports.c.agent_id)
    only = agents.c.retired_ms.is_(None) if agent_id is None else agents.c.id == agent_id
    newest = newest_first(query.where(only), update_reports.c.id, most, None)
    return tx.rows(UpdateReportRow, newest)


def keep_newest(tx: Transaction, agent_id: int, most: int) -> None:
    """Forget all reports of an agent but so many."""
    mine = update_reports.c.agent_id == agent_id
    kept = sa.select(update_reports.c.id).where(mine)
    kept = kept.order_by(update_reports.c.id.desc()).limit(most)
    tx.execute(update_reports.delete().where(mine, update_reports.c.id.not_in(kept)))
