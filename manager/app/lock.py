"""Lock of a data directory: one server process, and the name of its predecessor.

Invariant: the holder of the lock of `prsm.lock` is alive; the kernel releases it when the process
ends, however it ends. The file names the holder: for a second process that tries, and for the next
one, which learns from it which manager is certainly dead. A copy from elsewhere counts for nothing:
the file names itself, too.
"""

from __future__ import annotations

import datetime
import fcntl
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from manager.store import StoreError
from shared.messages import Message

__all__ = ["is_locked_by_us"]

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
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(
            "identity.directory_not_writable", path=str(path), problem=error.strerror
        ) from error
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


def _read(handle: int) -> str:
    return os.pread(handle, LONGEST, 0).decode("utf-8", "replace")
