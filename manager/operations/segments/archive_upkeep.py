"""Periodic upkeep of the archive: rewrite withdrawn segments, move unnamed files to the trash.

Invariant: a withdrawn segment is not distributed; its rewritten version has another name and the
same records but those of excluded hosts, and appears in the transaction in which the old one is
gone. A kill in between leaves files of segments that are gone, which are deleted (`orphans`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from manager.db.archive import archive_withdrawals
from manager.db.engine import Database
from manager.db.segments.segments import SegmentRow
from manager.operations.actor import CLOCK, Actor, note
from manager.operations.segments.file_checks import examine_file, file_finding
from manager.operations.segments.file_problems import ask_again, record_findings
from manager.operations.segments.kept_file_list import FilePlaces, files_after
from manager.operations.segments.orphans import sweep, sweep_trash
from manager.operations.segments.segment_intake import (
    ExaminationTools,
    enter_part,
    fetch_segment,
    keep_files,
)
from manager.store import StoreError
from manager.store.segments.segment_parts import SegmentPart
from manager.store.segments.segment_rewrite import RewriteJob
from manager.store.segments.segment_store import segment_key
from shared.errors import FormatError

__all__ = [
    "Rewrite",
    "compact",
    "forget_changes",
    "local_copy",
    "next_name",
    "remove_files",
    "remove_orphans",
]

ORPHAN_S: Final = 24 * 3600.0
"""A file without a row is an orphan after a day: an arrival puts it there before its row."""

_log: Final = logging.getLogger(__name__)

Rewrite = Callable[[RewriteJob], SegmentPart | None]
"""Whoever rewrites a segment elsewhere, as `Workers.run_here`; None: nothing of it is left."""


def compact(
    db: Database, reading: ExaminationTools, rewrite: Rewrite, actor: Actor, now_ms: int
) -> tuple[int, int]:
    """Rewrite withdrawn segments without their excluded hosts; return (rewritten, deleted).

    Where the hosts were included again before that, the segment is public again, unchanged. A
    damaged one stays withdrawn, is reported and ordered again, and does not delay the others.
    Raises InstallationError (the files are not this database's), StoreFullError, BusyError.
    """
    reading.check()
    rewritten = deleted = after_id = 0
    while True:
        with db.read() as tx:
            row = archive_withdrawals.to_rewrite(tx, after_id)
            without = [] if row is None else archive_withdrawals.excluded_in(tx, row.id)
        if row is None:
            break
        after_id = row.id
        if not without:
            with db.write() as tx:
                archive_withdrawals.restore(tx, row, now_ms)
                note(tx, now_ms, actor, "segment.restore", row.name)
            continue
        try:
            left = _replaced(db, reading, rewrite, row, without, actor, now_ms)
        except (FormatError, StoreError) as error:
            _log.warning("%s: cannot be rewritten without excluded hosts: %s", row.name, error)
            _note_damage(db, reading, row, now_ms)
            continue
        rewritten, deleted = rewritten + left, deleted + (not left)
    return rewritten, deleted


def _note_damage(db: Database, reading: ExaminationTools, row: SegmentRow, now_ms: int) -> None:
    """Write down which files of a segment are damaged, as the scrub does, and ask for it again."""
    places = FilePlaces(reading.layout, reading.store)
    files = files_after(db, places, f"segment:{row.id - 1}", 1).files
    found = [file_finding(file, examine_file(file, places, deep=True)) for file in files]
    record_findings(db, [one for one in found if one is not None], now_ms)
    ask_again(db, now_ms)


def _replaced(
    db: Database,
    reading: ExaminationTools,
    rewrite: Rewrite,
    row: SegmentRow,
    without: list[str],
    actor: Actor,
    now_ms: int,
) -> bool:
    with reading.scratch() as folder:
        part = rewrite(
            RewriteJob(
                source=local_copy(reading, row, folder),
                index=reading.layout.index_file(row.key),
                folder=folder,
                name=next_name(row),
                kind=row.kind,
                without=tuple(without),
                memory_bytes=reading.memory_bytes,
            )
        )
        key = "" if part is None else segment_key(row.agent_id, part.sha256)
        if part is not None:
            keep_files(reading, part, key)
        with db.write() as tx:
            if not archive_withdrawals.end_segment(tx, row.id):
                return part is not None  # another process has rewritten it meanwhile
            if part is not None:
                enter_part(tx, part, row.arrival_id, row.agent_id, key, now_ms, row.revision + 1)
            new = "" if part is None else part.name
            note(tx, now_ms, actor, "segment.rewrite", row.name, new=new, without=without[:100])
    if key != row.key:
        remove_files(db, reading, row.key)
    return part is not None


def local_copy(reading: ExaminationTools, row: SegmentRow, folder: Path) -> Path:
    """Return a file with the segment's bytes; from an object store it is fetched."""
    path = reading.store.path(row.key)
    return fetch_segment(reading.store.open(row.key), folder) if path is None else path


def next_name(row: SegmentRow) -> str:
    """Return the name of the next rewriting of a segment."""
    stem = row.name.removesuffix(".warc.gz")
    before = f"-r{row.revision}"
    if row.revision and stem.endswith(before):
        stem = stem.removesuffix(before)
    # The public part of a divided arrival is called -r1 from its beginning.
    number = row.revision + 1
    return f"{stem}-r{number}.warc.gz"


def remove_files(db: Database, reading: ExaminationTools, key: str) -> bool:
    """Remove the files of a key that no row names; a manager that no longer leads is refused."""
    with db.write() as tx:
        if archive_withdrawals.is_in_use(tx, key):
            return False
    reading.store.delete(key)
    index = reading.layout.index_file(key)
    for path in (index, index.with_suffix(".cdxj")):
        path.unlink(missing_ok=True)
    return True


def remove_orphans(db: Database, reading: ExaminationTools) -> int:
    """Move files that no row names to the trash, when they are a day old; return how many segments.

    Files of ended segments are deleted. Raises InstallationError, StoreFullError, BusyError.
    """
    now_s = time.time()
    swept = sweep(db, reading, ORPHAN_S, now_s)
    sweep_trash(db, reading, now_s)
    return swept.moved.get("segments", 0)


def forget_changes(db: Database, keep_s: float, now_ms: int) -> int:
    """Delete changes older than `keep_s`; a client that asks for them has to begin again."""
    with db.write() as tx:
        count = archive_withdrawals.prune_changes(tx, now_ms - round(keep_s * 1000))
        if count:
            note(tx, now_ms, CLOCK, "archive.delete-changes", "", changes=count)
    return count
