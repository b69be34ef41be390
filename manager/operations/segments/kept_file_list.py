"""Kept files by the rows that name them, a page at a time, for every kind of file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.segments import kept_files
from manager.db.segments.kept_files import FileRow, TransferFile
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
    source, after_id = read_cursor(cursor)
    names = list(_SOURCES)
    with db.read() as tx:
        for name in names[names.index(source) :]:
            found = list(_SOURCES[name].files(tx, places.layout, after_id, limit))
            if found:
                return Page(found, f"{name}:{found[-1].row_id}")
            after_id = 0
    return Page([], "")


def read_cursor(cursor: str) -> tuple[str, int]:
    """Return source and number of a cursor. Raises FormatError."""
    source, _, number = (cursor or f"{next(iter(_SOURCES))}:0").partition(":")
    if source not in _SOURCES or not (number.isascii() and number.isdigit() and len(number) < 19):
        raise FormatError("segments.bad_cursor", cursor=cursor[:40])
    return source, int(number)


def is_needed(db: Database, file: KeptFile, places: FilePlaces) -> bool:
    """Return whether its row still names a file that was not found: rows end before files."""
    source = next(one for one in _SOURCES.values() if file.kind in one.kinds)
    with db.read() as tx:
        found = list(source.files(tx, places.layout, file.row_id - 1, 1))
    return any(one.kind == file.kind and one.place == file.place for one in found)


def path_below_kept(layout: Layout, path: Path) -> str:
    """Return the path of a file below the folder of kept files."""
    return path.relative_to(layout.kept).as_posix()


def _segments(tx: Transaction, layout: Layout, after_id: int, limit: int) -> Iterator[KeptFile]:
    for row in kept_files.segment_rows(tx, after_id, limit):
        index = layout.index_file(row.key)
        cdxj = index.with_suffix(".cdxj")
        for kind, place, size_bytes, sha256 in (
            (FileKind.SEGMENT, row.key, row.size_bytes, row.sha256),
            (FileKind.INDEX, path_below_kept(layout, index), row.index_bytes, row.index_sha256),
            (FileKind.CDXJ, path_below_kept(layout, cdxj), row.cdxj_bytes or None, row.cdxj_sha256),
        ):
            yield KeptFile(
                kind,
                place,
                row.name,
                row.id,
                size_bytes=size_bytes,
                sha256=sha256,
                segment_id=row.id,
            )


def _logs(tx: Transaction, layout: Layout, after_id: int, limit: int) -> Iterator[KeptFile]:
    for row in kept_files.log_rows(tx, after_id, limit):
        yield KeptFile(FileKind.LOG, row.path, row.path, row.id, sha256=row.sha256)


def _results(tx: Transaction, layout: Layout, after_id: int, limit: int) -> Iterator[KeptFile]:
    folder = path_below_kept(layout, layout.results)
    for row in kept_files.result_rows(tx, after_id, limit):
        place = f"{folder}/{row.id}.result"
        yield _of_row(FileKind.RESULT, place, row.name, row)


def _uploads(tx: Transaction, layout: Layout, after_id: int, limit: int) -> Iterator[KeptFile]:
    for row in kept_files.open_transfers(tx, after_id, limit):
        place = f"incoming/{row.key}.warc.gz"
        if row.state == "received" or (layout.kept / place).exists():
            yield _of_row(FileKind.ARRIVAL, place, row.filename, row)
        else:
            yield KeptFile(FileKind.UPLOAD, f"uploads/{row.key}.part", row.filename, row.id)


def _releases(tx: Transaction, layout: Layout, after_id: int, limit: int) -> Iterator[KeptFile]:
    for row in kept_files.release_rows(tx, after_id, limit):
        yield _of_row(FileKind.RELEASE, f"releases/{row.path}", f"release {row.name}", row)


def _of_row(kind: FileKind, place: str, subject: str, row: FileRow | TransferFile) -> KeptFile:
    return KeptFile(
        kind, place, subject, row_id=row.id, size_bytes=row.size_bytes, sha256=row.sha256
    )


@frozen
class _Source:
    """The rows of one table, as the files that they name. kinds: of these files."""

    files: Callable[[Transaction, Layout, int, int], Iterator[KeptFile]]
    kinds: tuple[FileKind, ...]


_SOURCES: Final[dict[str, _Source]] = {
    "segment": _Source(_segments, (FileKind.SEGMENT, FileKind.INDEX, FileKind.CDXJ)),
    "log": _Source(_logs, (FileKind.LOG,)),
    "result": _Source(_results, (FileKind.RESULT,)),
    "upload": _Source(_uploads, (FileKind.UPLOAD, FileKind.ARRIVAL)),
    "release": _Source(_releases, (FileKind.RELEASE,)),
}
