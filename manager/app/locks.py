"""Locks of a data directory and of a SQLite file: one server process for each.

Invariant: the holder of a lock is alive; the kernel releases it when the process ends, however it
ends. `prsm.lock` names the holder: for a second process that tries, and for the next one, which
learns from it which manager is certainly dead. A copy from elsewhere counts for nothing: the file
names itself, too.
"""

from __future__ import annotations

import datetime
import fcntl
import logging
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from manager.store import StoreError
from shared.messages import Message

__all__ = ["DatabaseLock", "is_locked_by_us"]

_log: Final = logging.getLogger(__name__)

LONGEST: Final = 1000
_TOLD: Final = re.compile(
    r"^manager (?P<name>\S+) on (?P<host>\S*), file (?P<file>\d{1,20})$", re.MULTILINE
)


@contextmanager
def is_locked_by_us(path: Path, name: str = "") -> Iterator[str]:
    """Hold the lock while the block runs; yield the name of the dead previous holder.

    name: of this manager, a word; empty: the holder is no manager. Yields an empty name if no
    manager held it, or if that is uncertain: another machine, a copy of the directory. Raises
    StoreError that names the current holder.
    """
    handle = _opened(path, "identity.directory_not_writable")
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read(handle).partition("\n")[0]
            raise StoreError(
                "identity.directory_served",
                folder=str(path.parent),
                holder=holder or Message("identity.other_process"),
            ) from None
        host, file = socket.gethostname(), os.fstat(handle).st_ino
        told = _TOLD.search(_read(handle))
        here = told is not None and (told["host"], int(told["file"])) == (host, file)
        before = told["name"] if told is not None and here else ""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        text = f"process {os.getpid()} since {now}\n"
        if name:
            text += f"manager {name} on {host}, file {file}\n"
        try:
            # In place, so that a manager starts on a full disk.
            os.pwrite(handle, text.encode(), 0)
            os.ftruncate(handle, len(text.encode()))
            os.fsync(handle)  # it is read after a power cut
        except OSError as error:
            raise StoreError(
                "identity.lock_not_written", path=str(path), problem=error.strerror
            ) from error
        yield before
    finally:
        os.close(handle)


def _opened(path: Path, refusal: str) -> int:
    """Return the handle of a file, made where there is none. refusal: code of the StoreError."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(refusal, path=str(path), problem=error.strerror) from error


def _read(handle: int) -> str:
    return os.pread(handle, LONGEST, 0).decode("utf-8", "replace")


class DatabaseLock:
    """The right to serve a file of SQLite, whatever directory and name it is opened by.

    It is of the file itself, so links to it share it, and no lock of SQLite's own: commands read
    and write beside a manager. Take it before SQLite opens the file and close it after that,
    because closing the file takes SQLite's locks away.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock of a file, which is made where there is none.

        Raises StoreError: another manager serves it, or the file cannot be opened.
        """
        self._handle = _opened(path, "database.not_writable")
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Not closed: where this very process serves it, SQLite would lose its locks.
            raise StoreError("database.in_use", path=str(path)) from None
        except BaseException:
            os.close(self._handle)
            raise
        names = os.fstat(self._handle).st_nlink
        if names > 1:
            _log.warning(
                "database %s: has %d names (hard links), and SQLite's journal goes by the name: "
                "always start it by the same one, and remove the others",
                path,
                names,
            )

    def close(self) -> None:
        """Release the lock."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
