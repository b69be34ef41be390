"""Marks with the id of the installation in the folders and the bucket of a manager.

Invariants: a location without a mark gets one only where it is empty, or where rows name its files
and each of these is there; a folder that is empty while rows name files in it is not mounted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from manager.db.archive import archive_withdrawals
from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.identity import installation
from manager.db.logs import reports
from manager.errors import BusyError
from manager.operations.identity.bucket_check import BucketQuestion
from manager.operations.identity.installation import (
    COUNTED,
    LASTING,
    TRASH,
    InstallationError,
    MarkedFiles,
    Mismatch,
    count_message,
    installation_id,
    kind_message,
)
from manager.store import Layout
from manager.store.layout import FOLDERS
from manager.store.owner_marks import (
    MARK,
    FolderLocation,
    Mark,
    StorageLocation,
)
from manager.store.segments.object_store import ObjectStore
from shared.messages import Message

__all__ = [
    "check_marks",
    "mark_emptied",
    "mark_files",
    "marked_ids",
    "missing_files",
    "refuse_new_database",
    "set_marks",
    "take_id_again",
]


def refuse_new_database(files: MarkedFiles, database: str) -> None:
    """Raise InstallationError where files lie beside a database that has nothing in it.

    database: as a person names it. Raises BusyError where a bucket does not answer: it may hold
    another installation's archive.
    """
    if isinstance(files.store, ObjectStore) and (why := BucketQuestion(files.store).ask().why):
        missing = Message("identity.database_missing", database=database)
        raise unknown_bucket(missing, files.store, why)
    found = files.contents()
    marks = read_marks(files.locations())
    there = next((mark.installation for _, mark in marks if mark), "")
    marked = next((location.shown for location, mark in marks if mark), files.layout.kept)
    if not found and not any(mark for _, mark in marks):
        return
    of = "identity.files_without_database_of" if there else "identity.files_without_database"
    said = found.messages() or (Message("identity.mark"),)
    raise InstallationError(
        Mismatch.NO_DATABASE, of, place=str(marked), there=there, database=database, found=said
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
    for location, mark in read_marks(files.locations() if locations is None else locations):
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
        data = location.read_mark(MARK)
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
        location.write_mark(MARK, Mark(uuid, now_ms).encoded())


def check_marks(db: Database, files: MarkedFiles) -> None:
    """Raise InstallationError unless all locations bear the id of the database."""
    here = installation_id(db)
    for location, mark in read_marks(files.locations()):
        if mark is None or mark.installation != here:
            raise _foreign(location, here, "" if mark is None else mark.installation)


def marked_ids(files: MarkedFiles) -> list[str]:
    """Return the ids in the marks, each once; an empty one for an unreadable mark."""
    marks = read_marks(files.locations())
    return list(dict.fromkeys(mark.installation for _, mark in marks if mark))


def read_marks(locations: Sequence[StorageLocation]) -> list[tuple[StorageLocation, Mark | None]]:
    """Return the mark of each location; None: it has none."""
    read = ((location, location.read_mark(MARK)) for location in locations)
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


def unknown_bucket(database: Message, store: ObjectStore, why: Message) -> BusyError:
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
        raise unknown_bucket(Message("identity.database_empty"), files.store, why)
    named[TRASH] = 0
    unnamed = [kind for kind, count in found.files.items() if count and not named[kind]]
    if set(unnamed) & LASTING or (found and not any(named[kind] for kind in found.files)):
        raise InstallationError(
            Mismatch.UNNAMED_FILES,
            "identity.files_without_rows",
            place=location.shown,
            here=here,
            found=found.messages(),
            unnamed=[kind_message(kind) for kind in unnamed],
        )
    missing = list(islice(missing_files(files, keys, logs), COUNTED + 1))
    if missing:
        raise InstallationError(
            Mismatch.MISSING_FILES,
            "identity.files_missing",
            place=location.shown,
            here=here,
            count=count_message(len(missing)),
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
