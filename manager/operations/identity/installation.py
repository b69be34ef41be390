"""The installation id, by which a database, its files and its agents know each other.

Each location of files bears a mark with the id (`file_marks`). Invariant: a manager serves only
where the ids of its database and of all its locations are the same. So nothing is deleted, moved or
overwritten for a database that the files are not of. `adoption` is how a person decides otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, Final

from manager.db.engine import Database
from manager.db.identity import installation
from manager.errors import ConflictError
from manager.store import Layout
from manager.store.owner_marks import (
    StorageLocation,
    locations_of,
)
from manager.store.segments.object_store import ObjectStore
from manager.store.segments.segment_store import SegmentStore
from manager.store.segments.trash import Trash
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "COUNTED",
    "LASTING",
    "TRASH",
    "InstallationError",
    "MarkedFiles",
    "Mismatch",
    "installation_id",
]

COUNTED: Final = 1000
"""Files that are counted for a message; more are "more than"."""
LOGS: Final = "logs"
LASTING: Final = frozenset({"segments", "indexes", LOGS})
"""Kinds of which a row stays; of the others a killed manager may leave some without."""
TRASH: Final = "trash"


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
            Message("identity.number_of_files", count=count_message(count), kind=kind_message(kind))
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
            return [one for one in found if not isinstance(one, ObjectStore)]
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


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        for path in folder.glob("*"):
            if not path.name.startswith(".") and path.is_file():
                yield path


def _counted(found: Iterable[object]) -> int:
    return sum(1 for _ in islice(found, COUNTED + 1))


def count_message(count: int) -> int | Message:
    """Return a count for a message; above `COUNTED`: "more than"."""
    return Message("identity.more_than", count=COUNTED) if count > COUNTED else count


def kind_message(kind: str) -> Message:
    """Return the name of a kind of files."""
    return Message(f"identity.kind_{kind}")
