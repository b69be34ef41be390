"""The contents of the trash: listed by day, and deleted when their time is over."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from heapq import nsmallest
from typing import Final

from manager.db.engine import Database
from manager.operations.actor import CLOCK, note
from manager.operations.segments.orphans import NAMED, day_of, kind_of_file, nameable_files
from manager.operations.segments.segment_intake import ExaminationTools
from manager.store.segments.trash import TrashEntry
from shared.frozen import frozen

__all__ = ["Emptied", "TrashDay", "TrashFile", "empty_trash", "trash_days", "trash_files"]

DAY_S: Final = 86_400.0


@frozen
class TrashDay:
    """The trash of one day. deleted_from: the day on which its deletion begins."""

    day: str
    files: int
    size_bytes: int
    deleted_from: str


@frozen
class TrashFile:
    """A file in the trash. name: the path that it had, below the folder of kept files."""

    day: str
    name: str
    kind: str
    size_bytes: int
    changed_ms: int


@frozen
class Emptied:
    """The result of emptying the trash. left: files whose time is over and that remain."""

    files: int
    size_bytes: int
    left: int


def empty_trash(
    db: Database, reading: ExaminationTools, keep_s: float, share: float, now_s: float
) -> Emptied:
    """Delete files that are in the trash longer than `keep_s`, at most a share of all at once.

    share: of the files of archive and trash; one file at least. Raises as `sweep`.
    """
    reading.check()
    before = day_of(now_s - keep_s)
    total, over = 0, list[TrashEntry]()
    for entry in reading.trash.entries():
        total += 1
        if entry.day < before:
            over.append(entry)
    if not over:
        return Emptied(0, 0, 0)
    total += sum(1 for _ in nameable_files(reading))
    most = max(1, int(total * share))
    gone = sorted(over, key=lambda entry: entry.day)[:most]
    with db.write() as tx:
        note(
            tx,
            round(now_s * 1000),
            CLOCK,
            "trash.empty",
            gone[0].day,
            alert=True,
            files=len(gone),
            left=len(over) - len(gone),
            some=[entry.name for entry in gone[:NAMED]],
        )
    for entry in gone:
        reading.trash.delete(entry)
    return Emptied(len(gone), sum(one.size_bytes for one in gone), len(over) - len(gone))


def trash_days(reading: ExaminationTools, keep_s: float) -> list[TrashDay]:
    """Return the contents of the trash by day, the oldest first. Raises BusyError."""
    files, sizes = Counter[str](), Counter[str]()
    for entry in reading.trash.entries():
        files[entry.day] += 1
        sizes[entry.day] += entry.size_bytes
    kept = datetime.timedelta(days=math.ceil(keep_s / DAY_S) + 1)
    return [
        TrashDay(day, files[day], sizes[day], str(datetime.date.fromisoformat(day) + kept))
        for day in sorted(files)
    ]


def trash_files(reading: ExaminationTools, day: str, most: int) -> list[TrashFile]:
    """Return at most so many files that lie in the trash of a day, by name. Raises BusyError."""
    found = (
        TrashFile(
            day=entry.day,
            name=entry.was,
            kind=kind_of_file(entry.was),
            size_bytes=entry.size_bytes,
            changed_ms=round(entry.changed_s * 1000),
        )
        for entry in reading.trash.entries()
        if entry.day == day
    )
    return nsmallest(most, found, key=lambda one: one.name)
