"""Marks in the places where a manager's files lie: whose they are, and who uses them now.

A place is a folder, or a bucket with a prefix. Its mark names the installation that its files are
of; its lease names the database whose managers use them. Invariant: a mark is whole or not there,
and no name of one is that of a file that is kept.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from manager.store.durable_files import write_whole
from manager.store.errors import StoreError
from manager.store.layout import Layout
from manager.store.segments.object_store import ObjectStore
from manager.store.segments.segment_store import SegmentStore
from shared.frozen import frozen

__all__ = [
    "LEASE",
    "MARK",
    "FolderLocation",
    "Lease",
    "Mark",
    "StorageLocation",
    "apart_folders",
    "locations_of",
]

MARK: Final = ".prsm-installation"
LEASE: Final = ".prsm-lease"
LONGEST_BYTES: Final = 4096
MOUNTS: Final = Path("/proc/self/mountinfo")
MOUNT_FIELD: Final = 4
_OCTAL: Final = re.compile(rb"\\([0-7]{3})")
_T = TypeVar("_T", bound="Mark | Lease")


@frozen
class Mark:
    """The owner of the files in a place. installation: its id; empty: it is unreadable."""

    installation: str
    marked_ms: int = 0

    def encoded(self) -> bytes:
        """Return the bytes of the mark."""
        return _encoded(self)

    @classmethod
    def decoded(cls, data: bytes) -> Mark:
        """Return a mark that was read; one without an id where it is none."""
        return _decoded(cls, data) or cls("")


@frozen
class Lease:
    """The user of the files in a place. database: its identity. beat: rises while it lives.

    stamp: of the last sign of life, which this database knows; empty: of an older version.
    """

    database: str
    manager: str
    place: str
    beat: int
    at_ms: int
    stamp: str = ""

    def encoded(self) -> bytes:
        """Return the bytes of the lease."""
        return _encoded(self)

    @classmethod
    def decoded(cls, data: bytes) -> Lease | None:
        """Return a lease that was read; None where it is none."""
        return _decoded(cls, data)


class StorageLocation(Protocol):
    """A folder, or a bucket with a prefix, that holds files of a manager."""

    @property
    def shown(self) -> str:
        """The location as a person names it."""
        ...

    def read_mark(self, name: str) -> bytes | None:
        """Return a mark or lease; None: there is none. Raises StoreError, BusyError."""
        ...

    def write_mark(self, name: str, data: bytes) -> None:
        """Write a mark or lease in place of the one before. Raises StoreError, BusyError."""
        ...

    def remove_mark(self, name: str) -> None:
        """Remove a mark or lease; one that is gone is fine."""
        ...


class FolderLocation:
    """A folder of files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shown = str(folder)

    def read_mark(self, name: str) -> bytes | None:
        """Return what a file holds."""
        path = self.folder / name
        try:
            with path.open("rb") as file:
                return file.read(LONGEST_BYTES)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and not path.is_symlink():
                return None
            raise StoreError(
                "store.mark_unreadable",
                path=str(path),
                why=error.strerror,
                folder=str(self.folder),
            ) from error

    def write_mark(self, name: str, data: bytes) -> None:
        """Write a file whole."""
        try:
            write_whole(self.folder / name, iter([data]))
        except OSError as error:
            raise StoreError(
                "store.mark_not_writable", path=str(self.folder / name), why=error.strerror
            ) from error

    def remove_mark(self, name: str) -> None:
        """Remove a file."""
        (self.folder / name).unlink(missing_ok=True)


def locations_of(layout: Layout, store: SegmentStore) -> list[StorageLocation]:
    """Return the locations that need a mark each: the folder of kept files, those outside it."""
    folders = (layout.kept, *apart_folders(layout))
    locations: list[StorageLocation] = [FolderLocation(folder) for folder in folders]
    if isinstance(store, ObjectStore):
        locations.append(store)
    return locations


def apart_folders(layout: Layout) -> list[Path]:
    """Return the folders that are links to elsewhere, or where something is mounted."""
    mounted = _mount_points()
    root = layout.kept.resolve()
    return [folder for folder in layout.filled if _lies_apart(folder, root, mounted)]


def _lies_apart(folder: Path, root: Path, mounted: Collection[str]) -> bool:
    """Return whether a folder lies apart of a root, whose links are resolved."""
    if not folder.is_dir():
        return False
    real = folder.resolve()
    inside = real.is_relative_to(root)
    return not inside or str(real) in mounted or folder.stat().st_dev != root.stat().st_dev


def _mount_points() -> frozenset[str]:
    """Return where something is mounted, a folder of the same file system, too."""
    try:
        lines = MOUNTS.read_bytes().splitlines()
    except OSError:
        return frozenset()
    fields = (line.split(b" ") for line in lines)
    return frozenset(
        os.fsdecode(_OCTAL.sub(lambda found: bytes([int(found[1], 8)]), field[4]))
        for field in fields
        if len(field) > MOUNT_FIELD
    )


def _encoded(value: Mark | Lease) -> bytes:
    return json.dumps(asdict(value), sort_keys=True).encode() + b"\n"


def _decoded(kind: type[_T], data: bytes) -> _T | None:
    try:
        values: Any = json.loads(data)
        if not isinstance(values, Mapping):
            return None
        known = {name: values[name] for name in kind.__dataclass_fields__ if name in values}
        made = kind(**known)
    except (ValueError, TypeError):
        return None
    wanted = {name: type(field) for name, field in _SAMPLES[kind].items()}
    return made if all(type(getattr(made, n)) is t for n, t in wanted.items()) else None


_SAMPLES: Final[Mapping[type, Mapping[str, object]]] = {
    Mark: asdict(Mark("")),
    Lease: asdict(Lease("", "", "", 0, 0)),
}
