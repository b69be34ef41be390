"""The installation id, by which a database, its files and its agents know each other.

Each place of files bears a mark with the id (`store.owner_marks`). Invariants: a manager serves
only where the ids of its database and of all its locations are the same; a location without a mark
gets one only where it is empty, or where rows name its files and each of these files is there; a
folder that is empty while rows name files in it is one that is not mounted. So nothing is deleted,
moved or overwritten for a database that the files are not of. `adoption` is how a person decides
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, Final

from manager.db.archive import archive_withdrawals
from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.identity import installation
from manager.db.logs import reports
from manager.errors import BusyError, ConflictError
from manager.operations.identity.bucket_check import BucketQuestion
from manager.store import Layout
from manager.store.layout import FOLDERS
from manager.store.owner_marks import (
    MARK,
    BucketLocation,
    FolderLocation,
    Mark,
    StorageLocation,
    locations_of,
)
from manager.store.segments.object_store import ObjectStore
from manager.store.segments.segment_store import SegmentStore
from manager.store.segments.trash import Trash
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "InstallationError",
    "MarkedFiles",
    "Mismatch",
    "check_marks",
    "installation_id",
    "mark_emptied",
    "mark_files",
    "marked_ids",
    "missing_files",
    "refuse_new_database",
    "set_marks",
    "take_id_again",
]

COUNTED: Final = 1000
"""Files that are counted for a message; more are "more than"."""
LOGS: Final = "logs"
TRASH: Final = "trash"
LASTING: Final = frozenset({"segments", "indexes", LOGS})
"""Kinds of which a row stays; of the others a killed manager may leave some without."""


class Mismatch(StrEnum):
    """Reasons to refuse a database and files together."""

    FOREIGN_FILES = "foreign_files"  # the files are marked as another installation's
    UNREADABLE_MARK = "unreadable_mark"
    NO_DATABASE = "no_database"  # it is missing or empty, and files are there
    UNNAMED_FILES = "unnamed_files"  # no mark, and no row names what is there
    MISSING_FILES = "missing_files"  # no mark, and rows name what is not there
    IN_USE = "in_use"  # managers of another database use the files now


class InstallationError(ConflictError):
    """A database and files that do not belong together.

    place: the folder or bucket. here, there: the ids of database and files, empty: there is none.
    """

    def __init__(
        self,
        reason: Mismatch,
        message: str | Message,
        /,
        *,
        place: str,
        here: str = "",
        there: str = "",
        **params: Any,
    ) -> None:
        super().__init__(message, place=place, here=here, there=there, **params)
        self.reason = reason
        self.fault = reason.value
        self.place = place
        self.here = here
        self.there = there


@frozen
class Contents:
    """Counts of files that cannot be made again, by kind; counting stops beyond 1,000."""

    files: dict[str, int]

    def __bool__(self) -> bool:
        return any(self.files.values())

    def messages(self) -> tuple[Message, ...]:
        """Return the number of files of each kind that is there."""
        return tuple(
            Message("identity.number_of_files", count=_number(count), kind=_kind(kind))
            for kind, count in self.files.items()
            if count
        )


@frozen
class MarkedFiles:
    """The files of a manager, by their locations and kinds."""

    layout: Layout
    store: SegmentStore

    @property
    def lacks_bucket(self) -> bool:
        """Return whether the contents of the bucket are unknown now."""
        return isinstance(self.store, ObjectStore) and self.store.is_barred_here

    def locations(self) -> list[StorageLocation]:
        """Return the locations that bear a mark each; without a bucket that is barred."""
        found = locations_of(self.layout, self.store)
        if isinstance(self.store, ObjectStore) and self.store.is_barred:
            return [one for one in found if not isinstance(one, BucketLocation)]
        return found

    def contents(self) -> Contents:
        """Return the contents of all locations, without a barred bucket. Raises BusyError."""
        layout, trash = self.layout, Trash(self.layout, self.store)
        found = {
            "segments": 0 if self.lacks_bucket else _counted(self.store.listed()),
            "indexes": _counted(layout.indexes.glob("*/*.parquet")),
            "results": _counted(layout.results.glob("*.result")),
            "uploads": _counted(_files((layout.uploads, layout.incoming))),
            LOGS: _counted(layout.logs.glob("*/*.parquet")),
            "releases": _counted(_files((layout.releases,))),
            TRASH: _counted(trash.files() if self.lacks_bucket else trash.entries()),
        }
        return Contents(found)


def installation_id(db: Database) -> str:
    """Return the installation id of a database. Raises SettingError, BusyError."""
    with db.read() as tx:
        return installation.installation_of(tx).uuid


def refuse_new_database(files: MarkedFiles, database: str) -> None:
    """Raise InstallationError where files lie beside a database that has nothing in it.

    database: as a person names it. Raises BusyError where a bucket does not answer: it may hold
    another installation's archive.
    """
    if isinstance(files.store, ObjectStore) and (why := BucketQuestion(files.store).ask().why):
        missing = Message("identity.database_missing", database=database)
        raise _unknown_bucket(missing, files.store, why)
    found = files.contents()
    marks = _marks(files.locations())
    there = next((mark.installation for _, mark in marks if mark), "")
    marked = next((location.shown for location, mark in marks if mark), files.layout.kept)
    if not found and not any(mark for _, mark in marks):
        return
    of = "identity.files_without_database_of" if there else "identity.files_without_database"
    raise InstallationError(
        Mismatch.NO_DATABASE,
        of,
        place=str(marked),
        there=there,
        database=database,
        found=found.messages() or (Message("identity.mark"),),
    )


def mark_files(
    db: Database,
    files: MarkedFiles,
    now_ms: int,
    locations: Sequence[StorageLocation] | None = None,
) -> int:
    """Check that files and database are of one installation; mark the locations that have no mark.

    locations: None: all of the files. Returns how many were marked. Raises InstallationError,
    BusyError.
    """
    here = installation_id(db)
    unmarked = []
    for location, mark in _marks(files.locations() if locations is None else locations):
        if mark is None:
            unmarked.append(location)
        elif mark.installation != here:
            raise _foreign(location, here, mark.installation)
    if unmarked:
        _refuse_nested(files.layout, here)
        _check_named(db, files, unmarked[0], here)
        set_marks(unmarked, here, now_ms)
    for folder, named in _emptied(db, files):
        raise InstallationError(
            Mismatch.MISSING_FILES,
            "identity.folder_emptied",
            place=str(folder),
            here=here,
            count=named,
        )
    return len(unmarked)


def mark_emptied(db: Database, files: MarkedFiles, uuid: str, now_ms: int) -> None:
    """Write down that folders that are empty, though rows name files in them, are gone on with."""
    set_marks([FolderLocation(folder) for folder, _ in _emptied(db, files)], uuid, now_ms)


def _emptied(db: Database, files: MarkedFiles) -> Iterator[tuple[Path, int]]:
    """Yield the folders in which nothing is at all, and how many files rows name in each."""
    layout = files.layout
    here = () if isinstance(files.store, ObjectStore) else (layout.segments,)
    for folder in (*here, layout.indexes, layout.logs):
        if any(folder.iterdir()):
            continue
        with db.read() as tx:
            if folder == layout.logs:
                named = sum(1 for path in reports.all_paths(tx) if path)
            else:
                named = len(archive_withdrawals.keys_in_use(tx))
        if named:
            yield folder, named


def _refuse_nested(layout: Layout, here: str) -> None:
    """Raise InstallationError where the files lie in a folder that another installation fills."""
    folder = layout.kept.resolve()
    for above in folder.parents:
        location = FolderLocation(above)
        data = location.read(MARK)
        mark = None if data is None else Mark.decoded(data)
        if mark is None or mark.installation == here:
            continue
        if folder.relative_to(above).parts[0] in FOLDERS:
            raise _foreign(location, here, mark.installation)


def take_id_again(db: Database, files: MarkedFiles) -> None:
    """Give a database whose id was just made the one of its files, where rows name them.

    Its tables went back to a version without ids and came again: agents know the id of before.
    """
    there = marked_ids(files)
    if len(there) != 1 or not there[0]:
        return
    try:
        _check_named(db, files, files.locations()[0], installation_id(db))
    except InstallationError:
        return  # they are another's
    with db.write() as tx:
        installation.set_installation(tx, there[0])


def set_marks(locations: Iterable[StorageLocation], uuid: str, now_ms: int) -> None:
    """Write down whose the files of some locations are."""
    for location in locations:
        location.write(MARK, Mark(uuid, now_ms).encoded())


def check_marks(db: Database, files: MarkedFiles) -> None:
    """Raise InstallationError unless all locations bear the id of the database."""
    here = installation_id(db)
    for location, mark in _marks(files.locations()):
        if mark is None or mark.installation != here:
            raise _foreign(location, here, "" if mark is None else mark.installation)


def marked_ids(files: MarkedFiles) -> list[str]:
    """Return the ids in the marks, each once; an empty one for an unreadable mark."""
    return list(dict.fromkeys(mark.installation for _, mark in _marks(files.locations()) if mark))


def _marks(locations: Sequence[StorageLocation]) -> list[tuple[StorageLocation, Mark | None]]:
    read = ((location, location.read(MARK)) for location in locations)
    return [(location, None if data is None else Mark.decoded(data)) for location, data in read]


def _foreign(location: StorageLocation, here: str, there: str) -> InstallationError:
    if not there:
        return InstallationError(
            Mismatch.UNREADABLE_MARK,
            "identity.mark_unreadable",
            place=location.shown,
            here=here,
            mark=MARK,
        )
    return InstallationError(
        Mismatch.FOREIGN_FILES,
        "identity.files_foreign",
        place=location.shown,
        here=here,
        there=there,
    )


def _unknown_bucket(database: Message, store: ObjectStore, why: Message) -> BusyError:
    return BusyError("identity.bucket_unknown", database=database, bucket=store.shown, why=why)


def _check_named(db: Database, files: MarkedFiles, location: StorageLocation, here: str) -> None:
    """Raise InstallationError unless rows and files fit together, each way."""
    found = files.contents()
    with db.read() as tx:
        keys = archive_withdrawals.keys_in_use(tx)
        named = installation.counts_of_named(tx)
        logs = [path for path in reports.all_paths(tx) if path]
        is_new = not any(named.values()) and not agents.active(tx)
    if is_new and files.lacks_bucket and isinstance(files.store, ObjectStore):
        why = BucketQuestion(files.store).ask().why or Message("identity.bucket_did_not_answer")
        raise _unknown_bucket(Message("identity.database_empty"), files.store, why)
    named[TRASH] = 0
    unnamed = [kind for kind, count in found.files.items() if count and not named[kind]]
    if set(unnamed) & LASTING or (found and not any(named[kind] for kind in found.files)):
        raise InstallationError(
            Mismatch.UNNAMED_FILES,
            "identity.files_without_rows",
            place=location.shown,
            here=here,
            found=found.messages(),
            unnamed=[_kind(kind) for kind in unnamed],
        )
    missing = list(islice(missing_files(files, keys, logs), COUNTED + 1))
    if missing:
        raise InstallationError(
            Mismatch.MISSING_FILES,
            "identity.files_missing",
            place=location.shown,
            here=here,
            count=_number(len(missing)),
            example=missing[0],
        )


def missing_files(files: MarkedFiles, keys: Iterable[str], logs: Sequence[str]) -> Iterator[str]:
    """Yield the names of segments and indexes that are not there; logs, where none of them is.

    A log that is forgotten goes before its row says so.
    """
    wanted = sorted(keys)
    knows = bool(wanted) and not files.lacks_bucket
    there = {key for key, _ in files.store.listed()} if knows else set[str]()
    for key in wanted:
        if knows and key not in there:
            yield f"archive/segments/{key}"
        index = files.layout.index_file(key)
        if not index.is_file():
            yield str(index.relative_to(files.layout.kept))
    if logs and not any((files.layout.kept / path).is_file() for path in logs):
        yield from logs


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        for path in folder.glob("*"):
            if not path.name.startswith(".") and path.is_file():
                yield path


def _counted(found: Iterable[object]) -> int:
    return sum(1 for _ in islice(found, COUNTED + 1))


def _number(count: int) -> int | Message:
    return Message("identity.more_than", count=COUNTED) if count > COUNTED else count


def _kind(kind: str) -> Message:
    return Message(f"identity.kind_{kind}")
