"""Captures that are withdrawn with a host, and segments to be rewritten without it."""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.archive import selection_jobs
from manager.db.segments import segments as archive
from manager.db.segments.segments import SegmentRow
from manager.db.tables import archive_changes, hosts, segment_hosts, segments
from manager.db.transaction import Transaction
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "ChangeRow",
    "change_before",
    "changes_after",
    "end_segment",
    "excluded_in",
    "is_in_use",
    "keys_in_use",
    "last_change",
    "oldest_change",
    "prune_changes",
    "restore",
    "to_rewrite",
    "withdraw",
]


@frozen
class ChangeRow:
    """Something that happened to a public segment. id: rises with each."""

    id: int
    at_ms: int
    what: str
    name: str
    segment_id: int


def withdraw(tx: Transaction, host_id: int, now_ms: int) -> tuple[int, int]:
    """Withdraw the segments and results that hold a host; return how many of each.

    The withdrawal of a public file is news for the third parties that downloaded it.
    """
    held = sa.exists().where(
        segment_hosts.c.segment_id == segments.c.id, segment_hosts.c.host_id == host_id
    )
    rows = tx.execute(
        sa.select(segments.c.id, segments.c.name, segments.c.kind).where(
            segments.c.state == "current", held
        )
    ).all()
    tx.execute(
        segments.update()
        .where(segments.c.state == "current", held)
        .values(state="withdrawn", ended_ms=now_ms)
    )
    public = [(row.id, row.name) for row in rows if row.kind == "public"]
    archive.add_change(tx, now_ms, "deleted", public)
    jobs = selection_jobs.jobs_with_host(tx, host_id)
    for number in jobs:
        selection_jobs.change_job(
            tx, number, state="gone", problem=Message("archive.host_withdrawn")
        )
    return len(rows), len(jobs)


def to_rewrite(tx: Transaction, after_id: int = 0) -> SegmentRow | None:
    """Return the oldest segment behind a number that was withdrawn and is not rewritten yet."""
    wanted = sa.select(segments).where(segments.c.state == "withdrawn", segments.c.id > after_id)
    return tx.row(SegmentRow, wanted.order_by(segments.c.id).limit(1))


def excluded_in(tx: Transaction, segment_id: int) -> list[str]:
    """Return the keys of the excluded hosts in a segment."""
    return tx.values(
        sa.select(hosts.c.key)
        .join(segment_hosts, segment_hosts.c.host_id == hosts.c.id)
        .where(segment_hosts.c.segment_id == segment_id, hosts.c.excluded_ms.is_not(None))
    )


def restore(tx: Transaction, row: SegmentRow, now_ms: int) -> None:
    """Restore a segment that was withdrawn and not rewritten; a public one is published again."""
    back = segments.update().where(segments.c.id == row.id)
    tx.execute(back.values(state="current", ended_ms=None))
    if row.kind == "public":
        archive.add_change(tx, now_ms, "created", [(row.id, row.name)])


def end_segment(tx: Transaction, segment_id: int) -> bool:
    """Note that a segment is deleted, and forget what hosts it held; tell whether it was there."""
    tx.execute(segment_hosts.delete().where(segment_hosts.c.segment_id == segment_id))
    here = segments.update().where(segments.c.id == segment_id, segments.c.state != "gone")
    return bool(tx.changed(here.values(state="gone")))


def keys_in_use(tx: Transaction) -> set[str]:
    """Return the keys of all segments that are not deleted."""
    return set(tx.values(sa.select(segments.c.key).where(segments.c.state != "gone")))


def is_in_use(tx: Transaction, key: str) -> bool:
    """Return whether a segment that is not deleted has this key."""
    return tx.exists(segments.c.key == key, segments.c.state != "gone")


def changes_after(tx: Transaction, after_id: int, limit: int) -> list[ChangeRow]:
    """Return the next changes."""
    query = sa.select(archive_changes).where(archive_changes.c.id > after_id)
    return tx.rows(ChangeRow, query.order_by(archive_changes.c.id).limit(limit))


def last_change(tx: Transaction) -> int:
    """Return the number of the newest change, 0: there was none."""
    return int(tx.value(sa.select(sa.func.max(archive_changes.c.id))) or 0)


def oldest_change(tx: Transaction) -> ChangeRow | None:
    """Return the oldest change that is kept."""
    return tx.row(ChangeRow, sa.select(archive_changes).order_by(archive_changes.c.id).limit(1))


def change_before(tx: Transaction, moment_ms: int) -> int:
    """Return the number behind which all changes since a moment are, 0: all are.

    Those of a clock that was set back come in the order of their numbers, not of their times:
    older ones among them are given again rather than newer ones left out.
    """
    first = _first_since(tx, moment_ms)
    return last_change(tx) if first is None else first - 1


def prune_changes(tx: Transaction, moment_ms: int) -> int:
    """Forget the changes before the first that is since a moment, but the newest; return how many.

    Never one behind another that is kept: who follows would not notice the gap.
    """
    newest = last_change(tx)
    first = _first_since(tx, moment_ms)
    least = newest if first is None else min(first, newest)
    return tx.changed(archive_changes.delete().where(archive_changes.c.id < least))


def _first_since(tx: Transaction, moment_ms: int) -> int | None:
    since = sa.select(sa.func.min(archive_changes.c.id)).where(archive_changes.c.at_ms >= moment_ms)
    found = tx.value(since)
    return None if found is None else int(found)
