"""Public segments, as third parties list and take them."""

from __future__ import annotations

from manager.db.engine import Database
from manager.db.segments import segments
from manager.db.segments.segments import FileFilter, SegmentRow
from manager.errors import GoneError, NotFoundError
from manager.operations.actor import Actor, note
from shared.frozen import frozen

__all__ = [
    "FileFilter",
    "FilePage",
    "SegmentRow",
    "is_public",
    "list_files",
    "public_by_key",
    "public_file",
    "take_file",
]


@frozen
class FilePage:
    """Number of matching files, and a page of them in the order of their creation.

    next_id: what `list_files` returns the following ones for; None: these are the last.
    """

    count: int
    files: list[SegmentRow]
    next_id: int | None


def list_files(
    db: Database, asked: FileFilter, limit: int, *, page: int = 1, after_id: int | None = None
) -> FilePage:
    """Return a page of the public files that fit.

    after_id: the `next_id` of the page before; without it pages are counted out from the first,
    and where a file is withdrawn meanwhile, the next page lacks one.
    """
    offset = (page - 1) * limit if after_id is None else 0
    with db.read() as tx:
        count, found = segments.public_segments(tx, asked, limit + 1, offset, after_id or 0)
    files = found[:limit]
    return FilePage(count, files, files[-1].id if len(found) > limit else None)


def public_file(db: Database, name: str) -> SegmentRow:
    """Return a public segment; raises NotFoundError, GoneError where it was withdrawn."""
    with db.read() as tx:
        row = segments.segment_by_name(tx, name)
    if row is None or row.kind != "public":
        raise NotFoundError("archive.unknown_segment", segment=name[:200])
    if row.state != "current":
        raise GoneError("archive.segment_withdrawn", segment=name)
    return row


def is_public(db: Database, name: str) -> bool:
    """Return whether a segment is given away."""
    with db.read() as tx:
        return _is_given(segments.segment_by_name(tx, name))


def public_by_key(db: Database, key: str) -> SegmentRow | None:
    """Return the segment under a key of the store, None where it is not given away."""
    with db.read() as tx:
        row = segments.segment_by_key(tx, key)
    return row if _is_given(row) else None


def _is_given(row: SegmentRow | None) -> bool:
    return row is not None and row.kind == "public" and row.state == "current"


def take_file(db: Database, name: str, what: str, actor: Actor, now_ms: int) -> SegmentRow:
    """Return a public segment for download and record the actor; raises as `public_file`.

    what: `segment`, or the suffix of a file beside it.
    """
    row = public_file(db, name)
    with db.write() as tx:
        note(tx, now_ms, actor, f"{what}.download", name)
    return row
