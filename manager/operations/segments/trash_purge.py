"""Take down what the trash holds of excluded hosts: directly, as in the archive itself.

Invariant: after it nothing in the trash that can be read holds a host that is excluded now.
Captures of other hosts in a segment that has its index stay in the trash, under the same day.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from manager.db.engine import Database
from manager.db.segments import segments
from manager.operations.actor import Actor, note
from manager.operations.segments.segment_intake import (
    ExaminationTools,
    fetch_segment,
    indexes_in_trash,
    keep_files,
)
from manager.store.errors import StoreError
from manager.store.segments.index_summary import IndexSummary, summary_of
from manager.store.segments.segment_parts import SegmentPart
from manager.store.segments.segment_rewrite import RewriteJob
from manager.store.segments.segment_store import segment_key
from manager.store.segments.trash import INDEXES, RESULTS, SEGMENTS, UPLOADS, TrashEntry, index_name
from manager.store.segments.trash_search import holds_any
from shared.errors import FormatError

__all__ = ["purge_trash"]

Rewrite = Callable[[RewriteJob], SegmentPart | None]


def purge_trash(
    db: Database, reading: ExaminationTools, rewrite: Rewrite, actor: Actor, now_ms: int
) -> tuple[int, int]:
    """Rewrite or delete what the trash holds of excluded hosts; return (rewritten, deleted).

    Raises InstallationError, StoreFullError, BusyError.
    """
    with db.read() as tx:
        excluded = segments.excluded_keys(tx)
    if not excluded:
        return 0, 0
    rewritten = deleted = 0
    # Segments first: each is rewritten by its index, which goes with it.
    entries = sorted(reading.trash.entries(), key=lambda entry: not entry.key)
    for entry in entries:
        if not entry.was.startswith((SEGMENTS, INDEXES, RESULTS, *UPLOADS)):
            continue
        index, summary = _index(reading, entry)
        hosts = _excluded_in(reading, entry, summary, excluded)
        if hosts is None:
            continue
        with db.write() as tx:  # a manager that no longer leads is refused
            note(tx, now_ms, actor, "trash.purge", entry.name, without=sorted(hosts)[:100])
        if entry.key and summary and _rewritten(reading, rewrite, entry, index, summary, hosts):
            rewritten += 1
        else:
            deleted += 1
        _delete(reading, entry)
    return rewritten, deleted


def _excluded_in(
    reading: ExaminationTools,
    entry: TrashEntry,
    summary: IndexSummary | None,
    excluded: Collection[str],
) -> set[str] | None:
    """Return which excluded hosts a file holds; an empty set where no index says which.

    None: it holds none.
    """
    if summary is not None:
        return {one.host for one in summary.hosts} & set(excluded) or None
    try:
        with reading.trash.open(entry) as file:
            return set() if holds_any(file, excluded) else None
    except StoreError:
        return None  # an index that went with its segment


def _index(reading: ExaminationTools, entry: TrashEntry) -> tuple[Path, IndexSummary | None]:
    """Return the index of a segment of the trash and what it says; None: there is none."""
    path = Path()
    if entry.was.startswith(INDEXES):
        path = reading.trash.path(entry)
        return path, summary_of(path, reading.memory_bytes)
    if entry.key:
        for path in _indexes(reading, entry):
            summary = summary_of(path, reading.memory_bytes)
            if summary is not None:
                return path, summary
    return path, None


def _indexes(reading: ExaminationTools, entry: TrashEntry) -> Iterator[Path]:
    """Yield where the index of a segment of the trash may be: there, or where it was."""
    yield from indexes_in_trash(reading, entry.key, entry.day)
    if not reading.store.has(entry.key):
        yield reading.layout.index_file(entry.key)


def _rewritten(
    reading: ExaminationTools,
    rewrite: Rewrite,
    entry: TrashEntry,
    index: Path,
    summary: IndexSummary,
    hosts: set[str],
) -> bool:
    """Put a segment without some hosts into the trash of the same day; False: nothing is left."""
    with reading.scratch() as folder:
        job = RewriteJob(
            source=fetch_segment(reading.trash.open(entry), folder),
            index=index,
            folder=folder,
            name=summary.name,
            kind=summary.kind,
            without=tuple(hosts),
            memory_bytes=reading.memory_bytes,
        )
        try:
            part = rewrite(job)
        except FormatError:
            return False  # what cannot be taken out of it goes with it
        if part is None:
            return False
        key = segment_key(int(entry.key.partition("/")[0]), part.sha256)
        if reading.store.has(key):
            return False  # the archive itself has the same
        keep_files(reading, part, key)
        for name in (SEGMENTS + key, index_name(key), index_name(key, ".cdxj")):
            reading.trash.take(name, entry.day)
        return True


def _delete(reading: ExaminationTools, entry: TrashEntry) -> None:
    """Delete a file of the trash, of a segment with its index."""
    if entry.key:
        for index in _indexes(reading, entry):
            index.unlink(missing_ok=True)
            index.with_suffix(".cdxj").unlink(missing_ok=True)
    reading.trash.delete(entry)
