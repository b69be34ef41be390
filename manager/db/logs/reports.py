"""Accepted reports: their contents, their senders, and the places of their rows."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from manager.db.engine import Transaction
from manager.db.tables import reports
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
    return tx.values(
        sa.select(reports.c.path)
        .where(reports.c.agent_id == agent_id, reports.c.kind == "log", reports.c.path != "")
        .order_by(reports.c.id)
    )


def log_paths_since(tx: Transaction, since_ms: int) -> list[tuple[int, str]]:
    """Return (agent, path) of the logs that came since a moment, oldest first."""
    rows = tx.execute(
        sa.select(reports.c.agent_id, reports.c.path)
        .where(reports.c.received_ms >= since_ms, reports.c.kind == "log", reports.c.path != "")
        .order_by(reports.c.id)
    )
    return [(row.agent_id, row.path) for row in rows]


def newest(
    tx: Transaction, limit: int, before_id: int | None = None, agent_id: int | None = None
) -> list[ReportRow]:
    """Return reports, newest first, before an id; of one agent, or of all."""
    query = sa.select(reports).order_by(reports.c.id.desc()).limit(limit)
    if before_id is not None:
        query = query.where(reports.c.id < before_id)
    if agent_id is not None:
        query = query.where(reports.c.agent_id == agent_id)
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
    query = (
        sa.select(reports)
        .where(reports.c.kind == "log", reports.c.lines > 0, reports.c.path != "")
        .order_by(reports.c.id.desc())
        .limit(limit)
    )
    if before_id is not None:
        query = query.where(reports.c.id < before_id)
    if agent_id is not None:
        query = query.where(reports.c.agent_id == agent_id)
    if since_ms is not None:
        query = query.where(sa.func.coalesce(reports.c.until_ms, reports.c.received_ms) >= since_ms)
    if until_ms is not None:
        query = query.where(sa.func.coalesce(reports.c.since_ms, 0) < until_ms)
    if quarantined:
        query = query.where(reports.c.quarantined > 0)
    return tx.rows(ReportRow, query)


def with_lines_before(
    tx: Transaction, before_ms: int, after_id: int, limit: int
) -> list[ReportRow]:
    """Return logs after an id that came before a moment and whose lines are kept, oldest first."""
    query = (
        sa.select(reports)
        .where(
            reports.c.id > after_id,
            reports.c.received_ms < before_ms,
            reports.c.kind == "log",
            reports.c.path != "",
        )
        .order_by(reports.c.id)
        .limit(limit)
    )
    return tx.rows(ReportRow, query)


def forget_lines(tx: Transaction, ids: Collection[int]) -> None:
    """Record that the lines of some logs are no longer kept."""
    tx.execute(sa.update(reports).where(reports.c.id.in_(ids)).values(path=""))


def all_paths(tx: Transaction) -> list[str]:
    """Return where the rows of all reports lie; empty texts where a report had none."""
    return tx.values(sa.select(reports.c.path))
