"""Files that no row names: moved to the trash, never deleted.

Invariants: a file is judged again at the beginning of the write in which it is moved, by the
leader; one that is younger than a day is left alone, for an arrival puts it there before its row.
Files that rows name as ended (withdrawn, rewritten, expired, revoked) never go through the trash:
they are deleted, also from the trash. A file that a row needs and only the trash has is given back.
"""

from __future__ import annotations

import datetime
import re
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from manager.db.engine import Database, Transaction
from manager.db.segments import named_files
from manager.db.segments.named_files import FileState
from manager.db.transaction import chunks
from manager.operations.actor import CLOCK, Actor, note
from manager.operations.segments.segment_intake import ExaminationTools
from manager.store.segments.segment_store import KEY
from manager.store.segments.trash import INDEXES, RESULTS, SEGMENTS
from shared.frozen import frozen

__all__ = ["NAMED", "Swept", "day_of", "sweep", "sweep_trash"]

FILES_AT_ONCE: Final = 200

NAMED: Final = 5
"""Names that an audit row has."""

RELEASES: Final = "releases/"

LOGS: Final = "logs/"

_LOG: Final = re.compile(LOGS + r"([0-9]{1,18})/([0-9a-f]{64})\.parquet")

_RESULT: Final = re.compile(RESULTS + r"([0-9]{1,18})\.[a-z]+")

_SUBJECTS: Final = {
    SEGMENTS: "segments",
    INDEXES: "indexes",
    RESULTS: "results",
    "uploads/": "uploads",
    "incoming/": "uploads",
    RELEASES: "releases",
    LOGS: "logs",
}


@frozen
class Swept:
    """The result of a sweep. moved: files by kind. deleted: files whose rows had ended."""

    moved: dict[str, int]
    deleted: int


def day_of(now_s: float) -> str:
    """Return the day (UTC) of a moment, as the trash names it."""
    return datetime.datetime.fromtimestamp(now_s, datetime.UTC).strftime("%Y-%m-%d")


def sweep(
    db: Database, reading: ExaminationTools, older_than_s: float, now_s: float, actor: Actor = CLOCK
) -> Swept:
    """Move files that no row names to the trash of today; delete those that have ended.

    older_than_s: younger files are left alone. Raises InstallationError (the files are not this
    database's), StoreFullError, BusyError.
    """
    reading.check()
    day, at_ms = day_of(now_s), round(now_s * 1000)
    old = (name for name, since_s in nameable_files(reading) if now_s - since_s > older_than_s)
    moved = Counter[str]()
    deleted = 0
    for part in chunks(old, FILES_AT_ONCE):
        with db.read() as tx:
            judged = judge(tx, part)
        wanted = [name for name in part if judged.get(name) is not FileState.NAMED]
        if not wanted:
            continue
        with db.write() as tx:  # a manager that no longer leads is refused
            judged = judge(tx, wanted)
            orphans = [name for name in wanted if name not in judged]
            counts = Counter(map(kind_of_file, orphans))
            if orphans:
                told: dict[str, Any] = {**counts, "some": orphans[:NAMED]}
                note(tx, at_ms, actor, "trash.add", day, alert=True, **told)
        for name in orphans:
            reading.trash.take(name, day)
        ended = [name for name, state in judged.items() if state is FileState.ENDED]
        for name in ended:
            _delete(reading, name)
        moved += counts
        deleted += len(ended)
    return Swept(dict(moved), deleted)


def sweep_trash(
    db: Database, reading: ExaminationTools, now_s: float, actor: Actor = CLOCK
) -> Swept:
    """Delete ended files from the trash; give back files that a row needs and only it has.

    Returns the files given back as moved. Raises as `sweep`.
    """
    reading.check()
    given = Counter[str]()
    names: list[str] = []
    deleted = 0
    for part in chunks(reading.trash.entries(), FILES_AT_ONCE):
        with db.read() as tx:
            judged = judge(tx, [entry.was for entry in part])
        for entry in part:
            state = judged.get(entry.was)
            if state is FileState.ENDED:
                reading.trash.delete(entry)
                deleted += 1
            elif state is FileState.NAMED and not _is_there(reading, entry.was):
                reading.trash.give_back(entry)
                given[kind_of_file(entry.was)] += 1
                names.append(entry.was)
    if given:
        with db.write() as tx:
            told: dict[str, Any] = {**given, "some": names[:NAMED]}
            at_ms = round(now_s * 1000)
            note(tx, at_ms, actor, "trash.restore", day_of(now_s), alert=True, **told)
    return Swept(dict(given), deleted)


def judge(tx: Transaction, names: Collection[str]) -> dict[str, FileState]:
    """Return what rows say of files by name; of which they say nothing is left out."""
    found: dict[str, FileState] = {}
    for ask, known in (
        (named_files.states_of_keys, _key),
        (named_files.states_of_uploads, _upload),
        (named_files.states_of_results, _result),
        (named_files.states_of_bundles, _bundle),
        (named_files.states_of_logs, _log),
    ):
        found |= _judged(tx, ask, known, names)
    return found


def _judged(
    tx: Transaction,
    ask: Callable[[Transaction, Collection[Any]], dict[Any, FileState]],
    known: Callable[[str], Any],
    names: Collection[str],
) -> dict[str, FileState]:
    by_name = {name: found for name in names if (found := known(name)) is not None}
    states = ask(tx, set(by_name.values()))
    return {name: states[found] for name, found in by_name.items() if found in states}


def _key(name: str) -> str | None:
    """Return the key of the segment that a file is, or is the index of."""
    if name.startswith(SEGMENTS):
        key = name.removeprefix(SEGMENTS)
    elif name.startswith(INDEXES):
        key = name.removeprefix(INDEXES).rpartition(".")[0] + ".warc.gz"
    else:
        return None
    return key if KEY.fullmatch(key) else None


def _upload(name: str) -> str | None:
    folder, _, file = name.partition("/")
    return file.partition(".")[0] if folder in ("uploads", "incoming") else None


def _result(name: str) -> int | None:
    found = _RESULT.fullmatch(name)
    return int(found[1]) if found else None


def _bundle(name: str) -> str | None:
    return name.removeprefix(RELEASES) if name.startswith(RELEASES) else None


def _log(name: str) -> tuple[int, str] | None:
    """Return agent and digest of the crawl log whose lines a file holds."""
    found = _LOG.fullmatch(name)
    return (int(found[1]), found[2]) if found else None


def nameable_files(reading: ExaminationTools) -> Iterator[tuple[str, float]]:
    """Yield the names of files that rows could name, each with when it came to be there."""
    layout = reading.layout
    for key, since_s in reading.store.listed():
        yield SEGMENTS + key, since_s
    for folder, pattern in (
        (layout.indexes, "*/*.parquet"),
        (layout.indexes, "*/*.cdxj"),
        (layout.uploads, "*.part"),
        (layout.incoming, "*.warc.gz"),
        (layout.results, "*.result"),
        (layout.results, "*.part"),
        (layout.releases, "*"),
        (layout.logs, f"*/{'[0-9a-f]' * 64}.parquet"),
    ):
        yield from _named(layout.kept, folder.glob(pattern))


def _named(kept: Path, paths: Iterable[Path]) -> Iterator[tuple[str, float]]:
    for path in paths:
        try:
            found = path.stat()
        except OSError:  # it is gone, or a link that leads nowhere
            continue
        if stat.S_ISREG(found.st_mode) and not path.name.startswith("."):
            yield path.relative_to(kept).as_posix(), found.st_ctime


def _is_there(reading: ExaminationTools, name: str) -> bool:
    if name.startswith(SEGMENTS):
        return reading.store.has(name.removeprefix(SEGMENTS))
    return (reading.layout.kept / name).exists()


def _delete(reading: ExaminationTools, name: str) -> None:
    if name.startswith(SEGMENTS):
        reading.store.delete(name.removeprefix(SEGMENTS))
    else:
        (reading.layout.kept / name).unlink(missing_ok=True)


def kind_of_file(name: str) -> str:
    """Return the kind of a file by its folder."""
    return next((kind for start, kind in _SUBJECTS.items() if name.startswith(start)), "files")
