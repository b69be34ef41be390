"""One server process for a data directory.

Invariant: whoever holds the lock of `prsm.lock` is alive; the kernel gives it back when the process
ends, however it ends. The file says who that is, for the one who comes second.
"""

from __future__ import annotations

import datetime
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manager.store import StoreError

__all__ = ["held_by_us"]


@contextmanager
def held_by_us(path: Path) -> Iterator[None]:
    """Hold the lock while the block runs; raises StoreError that says who has it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 200).decode("ascii", "replace").strip()
            raise StoreError(
                f"{path.parent} is served already by {holder or 'another process'}; stop that one "
                "first, or name another directory with --data"
            ) from None
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} since {now}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
