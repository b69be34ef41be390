"""Rows that name kept files, by the kind of the file, a page at a time."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from manager.db.segments.segments import SegmentRow
from manager.db.tables import agents, archive_jobs, releases, reports, segments, transfers
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "FileRow",
    "TransferFile",
    "agent_ids",
    "log_rows",
    "names_among",
    "open_transfers",
    "release_rows",
    "result_rows",
    "segment_rows",
    "set_cdxj_sha256",
    "set_log_sha256",
    "totals",
    "transfer_keys",
]


@frozen
class FileRow:
    """A row that names one file. path: below the kept files, or what the file is called by."""

    id: int
    name: str
    path: str
    size_bytes: int
    sha256: str


@frozen
class TransferFile:
    """An upload that is not settled yet. state: receiving or received."""

    id: int
    key: str
    filename: str
    state: str
    size_bytes: int
    sha256: str


def segment_rows(tx: Transaction, after_id: int, limit: int) -> list[SegmentRow]:
    """Return segments that are not deleted, behind a number."""
    query = sa.select(segments).where(segments.c.id > after_id, segments.c.state != "gone")
    return tx.rows(SegmentRow, query.order_by(segments.c.id).limit(limit))


def log_rows(tx: Transaction, after_id: int, limit: int) -> list[FileRow]:
    """Return reports whose lines lie in a file, behind a number; their size is not known."""
    c = reports.c
    query = sa.select(
        c.id, c.name, c.path, sa.literal(0).label("size_bytes"), c.file_sha256.label("sha256")
    ).where(c.id > after_id, c.path != "")
    return tx.rows(FileRow, query.order_by(c.id).limit(limit))


def result_rows(tx: Transaction, after_id: int, limit: int) -> list[FileRow]:
    """Return complete results of jobs, behind a number."""
    c = archive_jobs.c
    query = sa.select(c.id, c.name, c.name.label("path"), c.size_bytes, c.sha256)
    query = query.where(c.id > after_id, c.state == "complete")
    return tx.rows(FileRow, query.order_by(c.id).limit(limit))


def open_transfers(tx: Transaction, after_id: int, limit: int) -> list[TransferFile]:
    """Return uploads that are under way, or wait to be judged, behind a number."""
    c = transfers.c
    query = sa.select(c.id, c.key, c.filename, c.state, c.size_bytes, c.sha256)
    query = query.where(c.id > after_id, c.state.in_(("receiving", "received")))
    return tx.rows(TransferFile, query.order_by(c.id).limit(limit))


def release_rows(tx: Transaction, after_id: int, limit: int) -> list[FileRow]:
    """Return files of releases that were not revoked, behind a number."""
    c = releases.c
    query = sa.select(
        c.id, c.version.label("name"), c.sha256.label("path"), c.size_bytes, c.sha256
    ).where(c.id > after_id, c.revoked_ms.is_(None))
    return tx.rows(FileRow, query.order_by(c.id).limit(limit))


def set_log_sha256(tx: Transaction, report_id: int, sha256: str) -> None:
    """Write down the digest of a log's file that had none."""
    mine = reports.update().where(reports.c.id == report_id, reports.c.file_sha256 == "")
    tx.execute(mine.values(file_sha256=sha256))


def set_cdxj_sha256(tx: Transaction, segment_id: int, size_bytes: int, sha256: str) -> None:
    """Write down size and digest of a CDXJ that had none."""
    mine = segments.update().where(segments.c.id == segment_id, segments.c.cdxj_sha256 == "")
    tx.execute(mine.values(cdxj_bytes=size_bytes, cdxj_sha256=sha256))


def totals(tx: Transaction) -> tuple[int, int]:
    """Return how many files rows name, and how many bytes of them the tables know."""
    held, held_bytes = _sum(
        tx,
        segments.c.size_bytes + segments.c.index_bytes + segments.c.cdxj_bytes,
        segments.c.state != "gone",
    )
    results, result_bytes = _sum(tx, archive_jobs.c.size_bytes, archive_jobs.c.state == "complete")
    bundles, bundle_bytes = _sum(tx, releases.c.size_bytes, releases.c.revoked_ms.is_(None))
    waiting = transfers.c.state.in_(("receiving", "received"))
    uploads, _ = _sum(tx, transfers.c.received_bytes, waiting)
    logs = int(tx.value(sa.select(sa.func.count()).where(reports.c.path != "")))
    files = 3 * held + results + bundles + uploads + logs
    return files, held_bytes + result_bytes + bundle_bytes


def _sum(
    tx: Transaction, size: sa.ColumnElement[int], wanted: sa.ColumnElement[bool]
) -> tuple[int, int]:
    """Return how many rows are wanted, and the sum of their sizes."""
    count = int(tx.value(sa.select(sa.func.count(size)).where(wanted)))
    return count, int(tx.value(sa.select(sa.func.sum(size)).where(wanted)) or 0)


def transfer_keys(tx: Transaction) -> set[str]:
    """Return the keys of all uploads that may have a file."""
    waiting = transfers.c.state.in_(("receiving", "received"))
    return set(tx.values(sa.select(transfers.c.key).where(waiting)))


def names_among(tx: Transaction, names: Collection[str]) -> set[str]:
    """Return those of some names that are, or were, names of segments."""
    return set(tx.values_among(sa.select(segments.c.name), segments.c.name, names))


def agent_ids(tx: Transaction) -> set[int]:
    """Return the numbers of all agents."""
    return set(tx.values(sa.select(agents.c.id)))
