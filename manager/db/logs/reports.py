"""Accepted reports: their contents, their senders, and the places of their rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

from manager.db.tables import reports
from manager.db.transaction import Transaction, newest_first
from shared.frozen import frozen, values_of

__all__ = [
    "NewReport",
    "ReportRow",
    "add",
    "all_paths",
    "by_name",
    "by_sha256",
    "forget_lines",
    "last_until",
    "log_paths",
    "log_paths_since",
    "logs_before",
    "newest",
    "senders_since",
    "with_lines_before",
]


@frozen
class NewReport:
    """A report to keep. path: of its rows."""

    agent_id: int
    name: str
    sha256: str
    kind: str
    size_bytes: int
    lines: int
    quarantined: int
    since_ms: int | None
    until_ms: int | None
    received_ms: int
    path: str


@frozen
class ReportRow(NewReport):
    """A report that is kept."""

    id: int


_WITH_LINES: Final = (reports.c.kind == "log", reports.c.path != "")


def by_sha256(tx: Transaction, agent_id: int, sha256: str) -> ReportRow | None:
    """Return the report of an agent with this body."""
    mine = reports.c.agent_id == agent_id
    return tx.row(ReportRow, sa.select(reports).where(mine, reports.c.sha256 == sha256))


def by_name(tx: Transaction, agent_id: int, name: str) -> ReportRow | None:
    """Return the report of an agent with this name."""
    mine = reports.c.agent_id == agent_id
    return tx.row(ReportRow, sa.select(reports).where(mine, reports.c.name == name))


def add(tx: Transaction, report: NewReport, file_sha256: str) -> None:
    """Keep a report. file_sha256: of the file with its rows."""
    tx.insert(reports, [{**values_of(report), "file_sha256": file_sha256}])


def senders_since(tx: Transaction, report_id: int) -> list[int]:
    """Return the agents whose reports came after one."""
    return tx.values(sa.select(reports.c.agent_id).where(reports.c.id > report_id).distinct())


def last_until(tx: Transaction, agent_id: int) -> int | None:
    """Return until when the logs of an agent reach that came so far."""
    found = tx.value(
        sa.select(sa.func.max(reports.c.until_ms)).where(reports.c.agent_id == agent_id)
    )
    return None if found is None else int(found)


def log_paths(tx: Transaction, agent_id: int) -> list[str]:
    """Return where the rows of an agent's logs lie, oldest first."""
    query = sa.select(reports.c.path).where(reports.c.agent_id == agent_id, *_WITH_LINES)
    return tx.values(query.order_by(reports.c.id))


def log_paths_since(tx: Transaction, since_ms: int) -> list[tuple[int, str]]:
    """Return (agent, path) of the logs that came since a moment, oldest first."""
    query = sa.select(reports.c.agent_id, reports.c.path)
    late = query.where(reports.c.received_ms >= since_ms, *_WITH_LINES)
    return tx.tuples(late.order_by(reports.c.id))


def newest(
    tx: Transaction, limit: int, before_id: int | None = None, agent_id: int | None = None
) -> list[ReportRow]:
    """Return reports, newest first, before an id; of one agent, or of all."""
    of_agent = (reports.c.agent_id, agent_id)
    query = newest_first(sa.select(reports), reports.c.id, limit, before_id, of_agent)
    return tx.rows(ReportRow, query)


def logs_before(
    tx: Transaction,
    before_id: int | None,
    *,
    agent_id: int | None,
    since_ms: int | None,
    until_ms: int | None,
    quarantined: bool,
    limit: int,
) -> list[ReportRow]:
    """Return logs whose lines are kept, newest first, before an id; that touch a time, if given.

    quarantined: only logs that have such lines.
    """
    query = sa.select(reports).where(reports.c.lines > 0, *_WITH_LINES)
    if since_ms is not None:
        query = query.where(sa.func.coalesce(reports.c.until_ms, reports.c.received_ms) >= since_ms)
    if until_ms is not None:
        query = query.where(sa.func.coalesce(reports.c.since_ms, 0) < until_ms)
    if quarantined:
        query = query.where(reports.c.quarantined > 0)
    of_agent = (reports.c.agent_id, agent_id)
    return tx.rows(ReportRow, newest_first(query, reports.c.id, limit, before_id, of_agent))


def with_lines_before(
    tx: Transaction, before_ms: int, after_id: int, limit: int
) -> list[ReportRow]:
    """Return logs after an id that came before a moment and whose lines are kept, oldest first."""
    old = reports.c.id > after_id, reports.c.received_ms < before_ms
    query = sa.select(reports).where(*old, *_WITH_LINES)
    return tx.rows(ReportRow, query.order_by(reports.c.id).limit(limit))


def forget_lines(tx: Transaction, ids: Collection[int]) -> None:
    """Record that the lines of some logs are no longer kept."""
    tx.execute(sa.update(reports).where(reports.c.id.in_(ids)).values(path=""))


def all_paths(tx: Transaction) -> list[str]:
    """Return where the rows of all reports lie; empty texts where a report had none."""
    return tx.values(sa.select(reports.c.path))
