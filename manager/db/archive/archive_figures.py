"""Size of the archive, and the hosts that are withdrawn from it."""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.tables import archive_jobs, hosts, segment_hosts, segments
from manager.db.transaction import Transaction, newest_first
from shared.frozen import frozen

__all__ = [
    "FilesRow",
    "ResultsRow",
    "WithdrawnRow",
    "files_by_kind",
    "files_with_host",
    "results",
    "withdrawn_hosts",
]


@frozen
class FilesRow:
    """Segments of one kind and state: how many, what they hold, their bytes and their indexes'."""

    kind: str
    state: str
    segments: int
    captures: int
    bytes: int
    index_bytes: int


@frozen
class ResultsRow:
    """Results of jobs that are kept."""

    files: int
    bytes: int


@frozen
class WithdrawnRow:
    """A withdrawn host. segments: that still hold it, until they are rewritten."""

    id: int
    key: str
    since_ms: int
    reason: str
    segments: int


def files_by_kind(tx: Transaction) -> list[FilesRow]:
    """Return the segments that are not deleted, by kind and state."""
    columns = segments.c

    def whole(column: sa.ColumnElement[int]) -> sa.ColumnElement[int]:
        return sa.cast(sa.func.sum(column), sa.BigInteger())

    query = (
        sa.select(
            columns.kind,
            columns.state,
            sa.func.count().label("segments"),
            whole(columns.captures).label("captures"),
            whole(columns.size_bytes).label("bytes"),
            whole(columns.index_bytes).label("index_bytes"),
        )
        .where(columns.state != "gone")
        .group_by(columns.kind, columns.state)
        .order_by(columns.kind, columns.state)
    )
    return tx.rows(FilesRow, query)


def files_with_host(tx: Transaction, host_id: int) -> tuple[int, int]:
    """Return how many segments that are given away hold a host, and their bytes."""
    held = sa.exists().where(
        segment_hosts.c.segment_id == segments.c.id, segment_hosts.c.host_id == host_id
    )
    size = sa.func.coalesce(sa.func.sum(segments.c.size_bytes), 0)
    query = sa.select(sa.func.count(), size).where(segments.c.state == "current", held)
    number, size_bytes = tx.tuples(query)[0]
    return int(number), int(size_bytes)


def results(tx: Transaction) -> ResultsRow:
    """Return how many results of jobs are kept."""
    size = sa.func.coalesce(sa.func.sum(archive_jobs.c.size_bytes), 0)
    complete = archive_jobs.c.state == "complete"
    files, size_bytes = tx.tuples(sa.select(sa.func.count(), size).where(complete))[0]
    return ResultsRow(int(files), int(size_bytes))


def withdrawn_hosts(
    tx: Transaction, before: int | None, limit: int, text: str
) -> list[WithdrawnRow]:
    """Return the hosts that are withdrawn, by number from the highest, before a number.

    text: somewhere in their keys.
    """
    held = (
        sa.select(sa.func.count())
        .select_from(segment_hosts)
        .where(segment_hosts.c.host_id == hosts.c.id)
        .scalar_subquery()
    )
    query = sa.select(
        hosts.c.id,
        hosts.c.key,
        hosts.c.excluded_ms.label("since_ms"),
        hosts.c.excluded_reason.label("reason"),
        held.label("segments"),
    ).where(hosts.c.excluded_ms.is_not(None))
    if text:
        query = query.where(hosts.c.key.contains(text, autoescape=True))
    return tx.rows(WithdrawnRow, newest_first(query, hosts.c.id, limit, before))
