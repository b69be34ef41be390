"""Size of the archive: all, public, and withheld."""

from __future__ import annotations

from typing import Final

from manager.db.archive import archive_figures
from manager.db.archive.archive_figures import FilesRow, ResultsRow, WithdrawnRow
from manager.db.engine import Database
from shared.frozen import frozen

__all__ = [
    "ArchiveFigures",
    "FilesRow",
    "WithdrawnRow",
    "archive_size",
    "list_withdrawn",
    "segments_with_host",
]

MOST_ROWS: Final = 1000


@frozen
class ArchiveFigures:
    """The archive in numbers.

    files: by kind and state. public: what is given away whole. kept_back: withheld (noindex,
    noarchive) and quarantined. to_rewrite: withdrawn, until the next compaction.
    """

    files: list[FilesRow]
    public: FilesRow
    kept_back: FilesRow
    to_rewrite: FilesRow
    results: ResultsRow


def archive_size(db: Database) -> ArchiveFigures:
    """Return how much there is."""
    with db.read() as tx:
        files = archive_figures.files_by_kind(tx)
        results = archive_figures.results(tx)
    current = [row for row in files if row.state == "current"]
    return ArchiveFigures(
        files,
        _sum("public", "current", [row for row in current if row.kind == "public"]),
        _sum("kept back", "current", [row for row in current if row.kind != "public"]),
        _sum("all", "withdrawn", [row for row in files if row.state == "withdrawn"]),
        results,
    )


def segments_with_host(db: Database, host_id: int) -> tuple[int, int]:
    """Return the number and the bytes of the segments that are withdrawn when a host is excluded,
    until they are rewritten without it."""
    with db.read() as tx:
        return archive_figures.files_with_host(tx, host_id)


def _sum(kind: str, state: str, rows: list[FilesRow]) -> FilesRow:
    return FilesRow(
        kind,
        state,
        sum(row.segments for row in rows),
        sum(row.captures for row in rows),
        sum(row.bytes for row in rows),
        sum(row.index_bytes for row in rows),
    )


def list_withdrawn(
    db: Database, *, before: int | None = None, limit: int = 100, text: str = ""
) -> list[WithdrawnRow]:
    """Return the hosts whose captures are no longer distributed, those found last first.

    text: a part of their names, in any case.
    """
    with db.read() as tx:
        return archive_figures.withdrawn_hosts(
            tx, before, max(1, min(limit, MOST_ROWS)), text.lower()
        )
