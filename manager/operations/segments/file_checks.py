"""Kept files beside the rows that name them, in both directions, for every kind of file.

A row names files; each must be there, of its size, and with its digest where it is read whole. A
file needs a row; one without is a leftover of a kill for a day, and then a finding. Invariant: a
missing file is only a finding where its row still needs it after the look: rows end before files.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from manager.db.archive import archive_withdrawals
from manager.db.engine import Database
from manager.db.logs import reports
from manager.db.segments import kept_files
from manager.db.segments.kept_files import FileRow
from manager.store import Layout
from manager.store.segments.segment_store import SegmentStore
from manager.store.segments.verification import (
    FileProblem,
    Throttle,
    Verdict,
    verified,
    verified_file,
    verified_gzip,
    verified_lines,
    verified_parquet,
    verified_size,
)
from shared.errors import FormatError
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "FileFinding",
    "FileKind",
    "FilePlaces",
    "KeptFile",
    "Page",
    "examine_file",
    "files_after",
    "is_needed",
    "no_throttle",
    "read_cursor",
    "stray_files",
]

OLD_S: Final = 24 * 3600.0
"""A file without a row may be one whose transaction is still to come, or that a kill left."""


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
class FileFinding:
    """A file that is not as it must be. row_id: 0: no row names it."""

    kind: FileKind
    place: str
    subject: str
    problem: FileProblem
    detail: Message | None = None
    segment_id: int | None = None


@frozen
class Page:
    """Some files, and the cursor behind them; empty: these are the last."""

    files: list[KeptFile]
    cursor: str


def no_throttle(_bytes: int) -> None:
    """Read as fast as the disk does."""


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


def examine_file(
    file: KeptFile,
    places: FilePlaces,
    *,
    deep: bool,
    throttle: Throttle = no_throttle,
    sizes: dict[str, int] | None = None,
) -> Verdict:
    """Return the verdict on a file. deep: its bytes are read; else only its size is looked at.

    sizes: of all segments, where they were listed. Raises BusyError where an object store is away.
    """
    if file.kind is FileKind.SEGMENT:
        path = places.store.path(file.place)
        if path is None:
            return _object_examined(file, places, throttle if deep else None, sizes)
    else:
        path = places.layout.kept / file.place
    if not deep or file.kind is FileKind.UPLOAD:
        return verified_file(path, file.size_bytes)
    verdict = verified_file(path)
    if verdict.problem is not None:
        return verdict
    verdict = verified(lambda: path.open("rb"), file.size_bytes, file.sha256, throttle)
    if verdict.problem is not None or file.sha256:
        return verdict
    # Of before its digest was kept: it is learned where the file can be what it was.
    by_content = {FileKind.LOG: verified_parquet, FileKind.CDXJ: verified_lines}.get(file.kind)
    found = verdict if by_content is None else by_content(path)
    return verdict if found.problem is None else found


def _object_examined(
    file: KeptFile, places: FilePlaces, throttle: Throttle | None, sizes: dict[str, int] | None
) -> Verdict:
    """Return the verdict on a segment of an object store. throttle: None: only by its size."""
    if throttle is None:
        found = places.store.size(file.place) if sizes is None else sizes.get(file.place)
        return verified_size(found, file.size_bytes)
    if places.store.size(file.place) is None:
        return Verdict(FileProblem.MISSING)
    opened: Callable[[], BinaryIO] = partial(places.store.open, file.place)
    return verified(opened, file.size_bytes, file.sha256, throttle)


def is_needed(db: Database, file: KeptFile, places: FilePlaces) -> bool:
    """Return whether its row still names a file that was not found: rows end before files."""
    source = next(kind for kind, kinds in _KINDS.items() if file.kind in kinds)
    found, _ = _SOURCES[source](db, places, file.row_id - 1, 1)
    return any(one.kind == file.kind and one.place == file.place for one in found)


def stray_files(
    db: Database, places: FilePlaces, now_s: Callable[[], float] = time.time
) -> Iterator[FileFinding]:
    """Yield files that no row names, older than a day, and files of lists and days that are odd."""
    before_s = now_s() - OLD_S
    layout = places.layout
    with db.read() as tx:
        keys = archive_withdrawals.keys_in_use(tx)
        logs = set(reports.all_paths(tx))
        uploads = kept_files.transfer_keys(tx)
        agents = {str(number) for number in kept_files.agent_ids(tx)}
        results = {str(row.id) for row in kept_files.result_rows(tx, 0, 2**31)}
        bundles = {row.sha256 for row in kept_files.release_rows(tx, 0, 2**31)}
    for key, since_s in places.store.listed():
        if key not in keys and _written_s(places, key, since_s) < before_s:
            yield _stray(FileKind.SEGMENT, key)
    stems = {key.removesuffix(".warc.gz") for key in keys}
    for path in _old(layout.indexes, "*/*", before_s):
        if f"{path.parent.name}/{path.stem}" not in stems:
            kind = FileKind.CDXJ if path.suffix == ".cdxj" else FileKind.INDEX
            yield _stray(kind, _below(layout, path))
    for path in _old(layout.logs, "*/*.parquet", before_s):
        if _below(layout, path) not in logs:
            yield _stray(FileKind.LOG, _below(layout, path))
    for kind, folder, pattern, known in (
        (FileKind.RESULT, layout.results, "*.result", results),
        (FileKind.UPLOAD, layout.uploads, "*.part", uploads),
        (FileKind.ARRIVAL, layout.incoming, "*.warc.gz", uploads),
        (FileKind.RELEASE, layout.releases, "*", bundles),
    ):
        for path in _old(folder, pattern, before_s):
            if path.name.partition(".")[0] not in known:
                yield _stray(kind, _below(layout, path))
    for path in _old(layout.lists, "*/*.gz", before_s):
        if path.parent.name not in agents:
            yield _stray(FileKind.LIST, f"lists/{path.parent.name}/{path.name}")
    yield from _odd_lists(layout)
    yield from _odd_days(db, layout)


def _written_s(places: FilePlaces, key: str, since_s: float) -> float:
    """Return when a segment was written: a copy has another time of its status."""
    path = places.store.path(key)
    with suppress(OSError):
        return since_s if path is None else min(since_s, path.stat().st_mtime)
    return since_s


def _odd_lists(layout: Layout) -> Iterator[FileFinding]:
    """Yield lists that are no whole gzip: they would be sent as they are."""
    for path in sorted(layout.lists.glob("*/*.gz")):
        verdict = verified_gzip(path)
        if verdict.problem not in (None, FileProblem.MISSING):
            place = f"lists/{path.parent.name}/{path.name}"
            yield FileFinding(FileKind.LIST, place, place, FileProblem.UNREADABLE, verdict.detail)


def _odd_days(db: Database, layout: Layout) -> Iterator[FileFinding]:
    """Yield daily files that cannot be read, or that name a segment that never existed."""
    for path in sorted(layout.daily.glob("*.jsonl")):
        place = _below(layout, path)
        try:
            names = {str(json.loads(line)["name"]) for line in path.read_bytes().splitlines()}
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, TypeError) as error:
            detail = Message.of_text(" ".join(str(error).split())[:200])
            yield FileFinding(FileKind.DAILY, place, place, FileProblem.UNREADABLE, detail)
            continue
        with db.read() as tx:
            unknown = sorted(names - kept_files.names_among(tx, names))
        if unknown:
            detail = Message("segments.names_no_segment", name=unknown[0])
            yield FileFinding(FileKind.DAILY, place, place, FileProblem.NO_ROW, detail)


def _stray(kind: FileKind, place: str) -> FileFinding:
    return FileFinding(kind, place, place, FileProblem.NO_ROW)


def _old(folder: Path, pattern: str, before_s: float) -> Iterator[Path]:
    for path in sorted(folder.glob(pattern)):
        with suppress(FileNotFoundError):
            # Names with a dot in front are marks and files that are being written.
            if not path.name.startswith(".") and path.is_file():
                if path.suffix == ".part" and folder.name != "uploads":
                    continue
                if path.stat().st_mtime < before_s:
                    yield path


def _below(layout: Layout, path: Path) -> str:
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
                place=_below(places.layout, index),
                subject=row.name,
                row_id=row.id,
                size_bytes=row.index_bytes,
                sha256=row.index_sha256,
                segment_id=row.id,
            ),
            KeptFile(
                kind=FileKind.CDXJ,
                place=_below(places.layout, index.with_suffix(".cdxj")),
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
        kind=kind,
        place=place,
        subject=subject,
        row_id=row.id,
        size_bytes=row.size_bytes,
        sha256=row.sha256,
    )


def _logs(
    db: Database, places: FilePlaces, after_id: int, limit: int
) -> tuple[list[KeptFile], int]:
    with db.read() as tx:
        rows = kept_files.log_rows(tx, after_id, limit)
    found = [
        KeptFile(
            kind=FileKind.LOG,
            place=row.path,
            subject=row.path,
            row_id=row.id,
            size_bytes=None,
            sha256=row.sha256,
        )
        for row in rows
    ]
    return found, rows[-1].id if rows else 0


def _results(
    db: Database, places: FilePlaces, after_id: int, limit: int
) -> tuple[list[KeptFile], int]:
    with db.read() as tx:
        rows = kept_files.result_rows(tx, after_id, limit)
    folder = _below(places.layout, places.layout.results)
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
