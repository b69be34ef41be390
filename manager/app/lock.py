"""One server process for a data directory, and which one there was before.

Invariant: whoever holds the lock of `prsm.lock` is alive; the kernel gives it back when the process
ends, however it ends. The file says who that is: for the one who comes second, and for the next
one, who knows by it which manager is certainly dead. What was copied from elsewhere says nothing:
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

__all__ = ["held_by_us"]

LONGEST: Final = 1000
_TOLD: Final = re.compile(
    r"^manager (?P<name>\S+) on (?P<host>\S*), file (?P<file>\d{1,20})$", re.MULTILINE
)


@contextmanager
def held_by_us(path: Path, name: str = "") -> Iterator[str]:
    """Hold the lock while the block runs; give the name of who held it before, and died.

    name: of this manager, a word; empty: what holds it is none. Empty is given where no manager
    did, or it is not certain: another machine, a copy of the directory. Raises StoreError that says
    who has it.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(
            f"{path}: {error.strerror}; the data directory must be writable by this user: see its "
            "mode, its file system, or name another with --data"
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read(handle).partition("\n")[0]
            raise StoreError(
                f"{path.parent} is served already by {holder or 'another process'}; stop that one "
                "first, or name another directory with --data"
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
                f"{path}: {error.strerror}: the file that says which process serves the directory "
                "cannot be written; make room in its file system (`df`, `df -i`), see `dmesg`, or "
                "name another directory with --data"
            ) from error
        yield before
    finally:
        os.close(handle)


def _read(handle: int) -> str:
    return os.pread(handle, LONGEST, 0).decode("utf-8", "replace")
