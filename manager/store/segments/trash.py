"""The trash: files that no row named, moved there by day instead of being deleted.

Files lie in `trash/DAY/` under the path that they had; segments of an object store below the
prefix `trash/DAY/` of the same bucket. Invariant: nothing is overwritten by another content, and
what is moved is on the disk under its new name before the old one is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from manager.store.durable_files import full_disk_said, move, sync_folder
from manager.store.errors import StoreError
from manager.store.layout import Layout
from manager.store.segments.object_store import ObjectStore
from manager.store.segments.segment_store import KEY, SegmentStore
from shared.frozen import frozen

__all__ = ["INDEXES", "RESULTS", "SEGMENTS", "UPLOADS", "Trash", "TrashEntry", "index_name"]

SEGMENTS: Final = "archive/segments/"
INDEXES: Final = "archive/index/"
RESULTS: Final = "archive/results/"
UPLOADS: Final = ("uploads/", "incoming/")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBERED: Final = re.compile(r"(?P<name>.*)\.~\d+~")


@frozen
class TrashEntry:
    """A file in the trash. name: its path, below the folder of kept files, when it was moved."""

    day: str
    name: str
    size_bytes: int
    changed_s: float

    @property
    def key(self) -> str:
        """The key of a segment; empty: it is another file."""
        key = self.name.removeprefix(SEGMENTS)
        return key if key != self.name and KEY.fullmatch(key) else ""

    @property
    def was(self) -> str:
        """The path that it had, also where another file of that path was there already."""
        numbered = _NUMBERED.fullmatch(self.name)
        return numbered["name"] if numbered else self.name


class Trash:
    """The trash of a manager's files."""

    def __init__(self, layout: Layout, store: SegmentStore) -> None:
        self._layout = layout
        self._bucket = store if isinstance(store, ObjectStore) else None

    def take(self, name: str, day: str) -> None:
        """Move a file to the trash of a day; one that is gone is fine.

        name: its path below the folder of kept files. Raises StoreFullError, BusyError.
        """
        if self._bucket is not None and name.startswith(SEGMENTS):
            self._bucket.discard(name.removeprefix(SEGMENTS), day)
            return
        source = self._layout.kept / name
        target = self._free(day, name)
        with suppress(FileNotFoundError), full_disk_said(self._layout.trash.parent):
            _make_folder(target.parent, self._layout.kept)
            move(source, target)

    def entries(self) -> Iterator[TrashEntry]:
        """Yield the entries of the trash, the oldest days first. Raises BusyError."""
        if self._bucket is not None:
            for day, key, size_bytes in self._bucket.discarded():
                yield TrashEntry(day, SEGMENTS + key, size_bytes, 0.0)
        yield from self.files()

    def files(self) -> Iterator[TrashEntry]:
        """Yield the entries of the trash that are files, without objects of a bucket."""
        for folder in self._days():
            for path in sorted(folder.rglob("*")):
                with suppress(FileNotFoundError):
                    if path.is_file():
                        found = path.stat()
                        name = path.relative_to(folder).as_posix()
                        yield TrashEntry(folder.name, name, found.st_size, found.st_mtime)

    def open(self, entry: TrashEntry) -> BinaryIO:
        """Open a file of the trash to read it. Raises StoreError where it is gone."""
        if self._is_object(entry):
            assert self._bucket is not None, "it was listed there"
            return self._bucket.open_discarded(entry.day, entry.key)
        try:
            return self.path(entry).open("rb")
        except FileNotFoundError as error:
            raise StoreError("segments.not_in_trash", name=entry.name, trash=entry.day) from error

    def path(self, entry: TrashEntry) -> Path:
        """Return where a file of the trash lies, unless it is an object."""
        return self._layout.trash / entry.day / entry.name

    def give_back(self, entry: TrashEntry) -> None:
        """Move a file to where it was; one that is there already stays. Raises StoreError."""
        if self._is_object(entry):
            assert self._bucket is not None, "it was listed there"
            self._bucket.take_back(entry.day, entry.key)
            return
        target = self._layout.kept / entry.was
        if target.exists():
            return
        _make_folder(target.parent, self._layout.kept)
        try:
            move(self.path(entry), target)
        except FileNotFoundError as error:
            raise StoreError("segments.not_in_trash", name=entry.name, trash=entry.day) from error
        self._remove_empty(self.path(entry).parent)

    def delete(self, entry: TrashEntry) -> None:
        """Delete a file of the trash; one that is gone is fine."""
        if self._is_object(entry):
            assert self._bucket is not None, "it was listed there"
            self._bucket.delete_discarded(entry.day, entry.key)
            return
        path = self.path(entry)
        path.unlink(missing_ok=True)
        self._remove_empty(path.parent)

    def _is_object(self, entry: TrashEntry) -> bool:
        return self._bucket is not None and bool(entry.key)

    def _days(self) -> list[Path]:
        with suppress(FileNotFoundError):
            found = self._layout.trash.iterdir()
            return sorted(path for path in found if _DAY.fullmatch(path.name))
        return []

    def _free(self, day: str, name: str) -> Path:
        """Return where a file may be put: where there is none, or one named by the same digest.

        Of the same digest and another size, one of the two is damaged: both stay.
        """
        source = self._layout.kept / name
        target = self._layout.trash / day / name
        number = 0
        while target.exists():
            if name.startswith((SEGMENTS, INDEXES)) and _size(target) == _size(source):
                break
            number += 1
            target = self._layout.trash / day / f"{name}.~{number}~"
        return target

    def _remove_empty(self, folder: Path) -> None:
        with suppress(OSError):  # it is not empty
            while folder != self._layout.trash:
                folder.rmdir()
                folder = folder.parent


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def index_name(key: str, ending: str = ".parquet") -> str:
    """Return the name of the index of the segment under a key."""
    return INDEXES + key.removesuffix(".warc.gz") + ending


def _make_folder(folder: Path, root: Path) -> None:
    """Make a folder and those above it, durably."""
    missing = []
    while folder != root and not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
        sync_folder(each.parent)
