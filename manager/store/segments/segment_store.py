"""Stores of segments: a local folder or an object store.

Invariant: a key names complete, immutable bytes or nothing. Keys are made of numbers and digests by
this program; no name that came over the network is part of one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from manager.store.durable_files import PART, chunks_of, full_disk_said, sync_folder, write_whole
from manager.store.errors import StoreError
from manager.store.group_access import GroupAccess

__all__ = [
    "KEY",
    "DirectoryStore",
    "SegmentStore",
    "link_into",
    "replace_file",
    "segment_key",
]

KEY: Final = re.compile(r"[0-9]{1,19}/[0-9a-f]{64}\.warc\.gz")


def segment_key(agent_id: int, sha256: str) -> str:
    """Return the key of a segment of an agent with this digest."""
    key = f"{int(agent_id)}/{sha256}.warc.gz"
    assert KEY.fullmatch(key), "a digest that we computed"
    return key


class SegmentStore(Protocol):
    """The manager's segments by key."""

    def put(self, source: Path, key: str) -> None:
        """Keep the bytes of a file that is complete; the file stays. Repeating is harmless.

        Raises StoreFullError, BusyError: nothing is kept under the key.
        """
        ...

    def replace(self, source: Path, key: str) -> None:
        """Put the bytes of a complete file in place of damaged ones, at once; the file stays.

        Raises StoreFullError, BusyError: the old bytes stay.
        """
        ...

    def open(self, key: str) -> BinaryIO:
        """Return a file to seek and read in; raises StoreError where the key is not there."""
        ...

    def has(self, key: str) -> bool:
        """Return whether the bytes of a key are here. Raises BusyError."""
        ...

    def size(self, key: str) -> int | None:
        """Return how many bytes lie under a key; None: none do. Raises BusyError."""
        ...

    def sizes(self) -> dict[str, int]:
        """Return the size of everything that is kept, by key. Raises BusyError."""
        ...

    def path(self, key: str) -> Path | None:
        """Return where a web server in front finds the bytes; None: nowhere."""
        ...

    def delete(self, key: str) -> None:
        """Delete the bytes; a current reader may continue or may fail."""
        ...

    def listed(self) -> Iterator[tuple[str, float]]:
        """Yield all keys, each with when it came to be there, in seconds since 1970."""
        ...


class DirectoryStore:
    """Segments as files of a directory."""

    def __init__(self, root: Path, access: GroupAccess) -> None:
        """access: who reads the files besides this user."""
        self._root = root
        self._access = access

    def put(self, source: Path, key: str) -> None:
        """Keep a file, by a link where it lies in the same file system."""
        link_into(source, self._at(key), self._access)

    def replace(self, source: Path, key: str) -> None:
        """Replace a file by a link, or by a copy from another file system."""
        replace_file(source, self._at(key), self._access)

    def size(self, key: str) -> int | None:
        """Return the size of the file."""
        try:
            return self._at(key).stat().st_size
        except FileNotFoundError:
            return None

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all files."""
        found = {}
        for path in self._root.glob("*/*.warc.gz"):
            with contextlib.suppress(OSError):
                found[f"{path.parent.name}/{path.name}"] = path.stat().st_size
        return found

    def open(self, key: str) -> BinaryIO:
        """Return the file."""
        try:
            return self._at(key).open("rb")
        except FileNotFoundError as error:
            raise StoreError("segments.file_missing", key=key, store=str(self._root)) from error

    def has(self, key: str) -> bool:
        """Return whether a file is here."""
        return self._at(key).is_file()

    def path(self, key: str) -> Path | None:
        """Return the file's path."""
        return self._at(key)

    def delete(self, key: str) -> None:
        """Remove the file; one that is gone is fine."""
        self._at(key).unlink(missing_ok=True)

    def listed(self) -> Iterator[tuple[str, float]]:
        """Yield the keys of all files. A link changes the file's status, not its bytes."""
        for path in self._root.glob("*/*.warc.gz"):
            key = f"{path.parent.name}/{path.name}"
            with contextlib.suppress(OSError):  # it is gone, or a link that leads nowhere
                found = path.stat()
                if KEY.fullmatch(key) and stat.S_ISREG(found.st_mode):
                    yield key, found.st_ctime

    def _at(self, key: str) -> Path:
        assert KEY.fullmatch(key), "a key that we made"
        return self._root / key


def link_into(source: Path, target: Path, access: GroupAccess) -> None:
    """Link a synced file under a second name, durably; another file system costs a copy."""
    access.make_folder(target.parent)
    with full_disk_said(target.parent):
        try:
            os.link(source, target)
            sync_folder(target.parent)
        except FileExistsError:
            # Maybe its group was not given to it yet; and it counts as new, for its row is.
            with contextlib.suppress(FileNotFoundError):
                os.utime(target)
            if not _is_of_size(target, source.stat().st_size):  # a copy that was cut off
                replace_file(source, target, access)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK):
                raise
            write_whole(target, chunks_of(source))
        access.give(target)


def _is_of_size(path: Path, size_bytes: int) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == size_bytes


def replace_file(source: Path, target: Path, access: GroupAccess) -> None:
    """Put a synced file in place of another one, durably; readers see the one or the other.

    A folder in its place is moved aside, under a name that begins with a dot.
    """
    access.make_folder(target.parent)
    beside = target.with_name(f"{target.name}.{os.getpid()}{PART}")
    beside.unlink(missing_ok=True)
    link_into(source, beside, access)
    try:
        with full_disk_said(target.parent):
            if target.is_dir() and not target.is_symlink():
                target.rename(target.with_name(f".{target.name}.{os.getpid()}.aside"))
            beside.replace(target)
            sync_folder(target.parent)
    finally:
        beside.unlink(missing_ok=True)
