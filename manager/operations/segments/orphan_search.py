"""Search for kept files that no row names, and for lists and daily files that are unreadable.

Invariant: a file that is younger than a day is no finding, as its row may be still to come.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from manager.db.archive import archive_withdrawals
from manager.db.engine import Database
from manager.db.logs import reports
from manager.db.segments import kept_files
from manager.operations.segments.file_checks import FileFinding
from manager.operations.segments.kept_file_list import FileKind, FilePlaces, path_below_kept
from manager.store import Layout
from manager.store.segments.verification import FileProblem, verified_gzip
from shared.messages import Message

__all__ = ["orphaned_files"]

OLD_S: Final = 24 * 3600.0
"""A file without a row may be one whose transaction is still to come, or that a kill left."""


def orphaned_files(
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
            yield _stray(kind, path_below_kept(layout, path))
    for path in _old(layout.logs, "*/*.parquet", before_s):
        if path_below_kept(layout, path) not in logs:
            yield _stray(FileKind.LOG, path_below_kept(layout, path))
    for kind, folder, pattern, known in (
        (FileKind.RESULT, layout.results, "*.result", results),
        (FileKind.UPLOAD, layout.uploads, "*.part", uploads),
        (FileKind.ARRIVAL, layout.incoming, "*.warc.gz", uploads),
        (FileKind.RELEASE, layout.releases, "*", bundles),
    ):
        for path in _old(folder, pattern, before_s):
            if path.name.partition(".")[0] not in known:
                yield _stray(kind, path_below_kept(layout, path))
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
        place = path_below_kept(layout, path)
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
