"""Kept files by the rows that name them, a page at a time, for every kind of file."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Final

from manager.db.engine import Database
from manager.db.segments import kept_files
from manager.db.segments.kept_files import FileRow
from manager.store import Layout
from manager.store.segments.segment_store import SegmentStore
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["FileKind", "FilePlaces", "KeptFile", "Page", "files_after", "is_needed", "read_cursor"]


class FileKind(StrEnum):
    """A kind of kept file."""

    SEGMENT = "segment"
    INDEX = "index"
    CDXJ = "cdxj"
    LOG = "log"
    RESULT = "result"
    UPLOAD = "upload"
    ARRIVAL = "arrival"
    RELEASE = "release"
    LIST = "list"
    DAILY = "daily"


@frozen
class FilePlaces:
    """Places of kept files: the folders, and the store of segments."""

    layout: Layout
    store: SegmentStore


@frozen
class KeptFile:
    """A file that a row names. place: below the kept files, or its key in the store.

    size_bytes: None: any. sha256: empty: unknown. segment_id: whose file, or whose index, it is.
    """

    kind: FileKind
    place: str
    subject: str
    row_id: int
    size_bytes: int | None = None
    sha256: str = ""
    segment_id: int | None = None


@frozen
class Page:
    """Some files, and the cursor behind them; empty: these are the last."""

    files: list[KeptFile]
    cursor: str


def files_after(db: Database, places: FilePlaces, cursor: str, limit: int) -> Page:
    """Return the files of the next rows behind a cursor, empty: the first. Raises FormatError."""
    kind, after_id = read_cursor(cursor)
    names = list(_SOURCES)
    found, last_id = _SOURCES[kind](db, places, after_id, limit)
    if len(found) and last_id:
        return Page(found, f"{kind}:{last_id}")
    position = names.index(kind) + 1
    if position == len(names):
        return Page([], "")
    return files_after(db, places, f"{names[position]}:0", limit)


def read_cursor(cursor: str) -> tuple[str, int]:
    """Return kind and number of a cursor. Raises FormatError."""
    kind, _, number = (cursor or f"{next(iter(_SOURCES))}:0").partition(":")
    if kind not in _SOURCES or not (number.isascii() and number.isdigit() and len(number) < 19):
        raise FormatError("segments.bad_cursor", cursor=cursor[:40])
    return kind, int(number)


def is_needed(db: Database, file: KeptFile, places: FilePlaces) -> bool:
    """Return whether its row still names a file that was not found: rows end before files."""
    source = next(kind for kind, kinds in _KINDS.items() if file.kind in kinds)
    found, _ = _SOURCES[source](db, places, file.row_id - 1, 1)
    return any(one.kind == file.kind and one.place == file.place for one in found)


def path_below_kept(layout: Layout, path: Path) -> str:
    """Return the path of a file below the folder of kept files."""
    return path.relative_to(layout.kept).as_posix()


Source = Callable[[Database, FilePlaces, int, int], tuple[list[KeptFile], int]]


def _segments(
    db: Database, places: FilePlaces, after_id: int, limit: int
) -> tuple[list[KeptFile], int]:
    with db.read() as tx:
        rows = kept_files.segment_rows(tx, after_id, limit)
    found = []
    for row in rows:
        index = places.layout.index_file(row.key)
        found += [
            KeptFile(
                kind=FileKind.SEGMENT,
                place=row.key,
                subject=row.name,
                row_id=row.id,
                size_bytes=row.size_bytes,
                sha256=row.sha256,
                segment_id=row.id,
            ),
            KeptFile(
                kind=FileKind.INDEX,
                place=path_below_kept(places.layout, index),
                subject=row.name,
                row_id=row.id,
                size_bytes=row.index_bytes,
                sha256=row.index_sha256,
                segment_id=row.id,
            ),
            KeptFile(
                kind=FileKind.CDXJ,
                place=path_below_kept(places.layout, index.with_suffix(".cdxj")),
                subject=row.name,
                row_id=row.id,
                size_bytes=row.cdxj_bytes or None,
                sha256=row.cdxj_sha256,
                segment_id=row.id,
            ),
        ]
    return found, rows[-1].id if rows else 0


def _of_row(kind: FileKind, place: str, subject: str, row: FileRow) -> KeptFile:
    return KeptFile(
        kind, place, subject, row_id=row.id, size_bytes=row.size_bytes, sha256=row.sha256
    )


def _logs(
    db: Database, places: FilePlaces, after_id: int, limit: int
) -> tuple[list[KeptFile], int]:
    with db.read() as tx:
        rows = kept_files.log_rows(tx, after_id, limit)
    found = [
        KeptFile(
            kind=FileKind.LOG, place=row.path, subject=row.path, row_id=row.id, sha256=row.sha256
        )
        for row in rows
    ]
    return found, rows[-1].id if rows else 0


def _results(
    db: Database, places: FilePlaces, after_id: int, limit: int
) -> tuple[list[KeptFile], int]:
    with db.read() as tx:
        rows = kept_files.result_rows(tx, after_id, limit)
    folder = path_below_kept(places.layout, places.layout.results)
    found = [_of_row(FileKind.RESULT, f"{folder}/{row.id}.result", row.name, row) for row in rows]
    return found, rows[-1].id if rows else 0


def _uploads(
    db: Database, places: FilePlaces, after_id: int, limit: int
) -> tuple[list[KeptFile], int]:
    with db.read() as tx:
        rows = kept_files.open_transfers(tx, after_id, limit)
    found = []
    for row in rows:
        arrived = f"incoming/{row.key}.warc.gz"
        if row.state == "received" or (places.layout.kept / arrived).exists():
            found.append(
                KeptFile(
                    kind=FileKind.ARRIVAL,
                    place=arrived,
                    subject=row.filename,
                    row_id=row.id,
                    size_bytes=row.size_bytes,
                    sha256=row.sha256,
                )
            )
        else:
            found.append(KeptFile(FileKind.UPLOAD, f"uploads/{row.key}.part", row.filename, row.id))
    return found, rows[-1].id if rows else 0


def _releases(
    db: Database, places: FilePlaces, after_id: int, limit: int
) -> tuple[list[KeptFile], int]:
    with db.read() as tx:
        rows = kept_files.release_rows(tx, after_id, limit)
    found = [
        _of_row(FileKind.RELEASE, f"releases/{row.path}", f"release {row.name}", row)
        for row in rows
    ]
    return found, rows[-1].id if rows else 0


_SOURCES: Final[dict[str, Source]] = {
    "segment": _segments,
    "log": _logs,
    "result": _results,
    "upload": _uploads,
    "release": _releases,
}

_KINDS: Final[dict[str, tuple[FileKind, ...]]] = {
    "segment": (FileKind.SEGMENT, FileKind.INDEX, FileKind.CDXJ),
    "log": (FileKind.LOG,),
    "result": (FileKind.RESULT,),
    "upload": (FileKind.UPLOAD, FileKind.ARRIVAL),
    "release": (FileKind.RELEASE,),
}
