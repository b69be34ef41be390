"""Files that are there whole, or not at all, whatever happens to the machine.

Invariant: a name appears only after the bytes of its file are on the disk (fsync, rename, fsync of
the folder). A full disk becomes StoreFullError, and the file that did not fit is removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from manager.store.errors import StoreFullError
from shared.full_disk import NO_ROOM

__all__ = [
    "PART",
    "OpenFile",
    "chunks_of",
    "free_bytes",
    "full_disk_said",
    "move",
    "open_new",
    "sync_file",
    "sync_folder",
    "write_whole",
]

PART: Final = ".part"  # the ending of files that are being written; removed at start
COPY_BYTES: Final = 1024**2

OpenFile = Callable[[Path], BinaryIO]


def free_bytes(folder: Path) -> int:
    """Return how much room a folder's file system has."""
    return shutil.disk_usage(folder).free


def open_new(path: Path) -> BinaryIO:
    """Open a file that must not exist yet, readable by this user only."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


@contextlib.contextmanager
def full_disk_said(folder: Path) -> Iterator[None]:
    """Turn the system's words for a full disk into StoreFullError."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise StoreFullError("store.disk_full", folder=str(folder), why=error.strerror) from error


def sync_file(path: Path) -> None:
    """Make the bytes of a file durable that other code wrote."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder as durable as the files behind them."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def move(source: Path, target: Path) -> None:
    """Give a file that is already synced another name, durably; another file system is fine."""
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        write_whole(target, chunks_of(source))
        source.unlink()
    sync_folder(target.parent)
    if source.parent != target.parent:
        sync_folder(source.parent)


def chunks_of(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in parts."""
    with path.open("rb") as file:
        while chunk := file.read(COPY_BYTES):
            yield chunk


def write_whole(target: Path, chunks: Iterator[bytes], *, open_file: OpenFile = open_new) -> int:
    """Write a file so that its name appears only when it is complete; return its bytes.

    Whatever goes wrong, in the chunks or on the disk, leaves the old file or none.
    """
    part = target.with_name(f"{target.name}.{os.getpid()}.{id(chunks)}{PART}")
    size_bytes = 0
    try:
        with full_disk_said(target.parent):
            with open_file(part) as file:
                for chunk in chunks:
                    file.write(chunk)
                    size_bytes += len(chunk)
                file.flush()
                os.fsync(file.fileno())
            move(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return size_bytes
