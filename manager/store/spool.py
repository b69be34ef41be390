"""Take a body from the network to the disk, counted and hashed as it comes.

Invariant: a body over its limit is refused before a byte of it is read where its length is
declared, else at the limit; whatever is refused, cut off or did not fit leaves nothing behind. A
body that was taken whole is synced before anybody hears of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from manager.store.durable_files import (
    PART,
    OpenFile,
    free_bytes,
    full_disk_said,
    move,
    open_new,
)
from manager.store.errors import StoreFullError
from shared.errors import LimitError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["SPILL", "Spool", "SpoolWriter", "Spooled"]

BODY: Final = ".body"
SPILL: Final = "spill-"
"""Begin of the name of a folder into which a process spills; its number follows."""


@frozen
class Spooled:
    """A body that lies on the disk, whole."""

    path: Path
    sha256: str
    size_bytes: int

    def discard(self) -> None:
        """Remove it; one that was moved on is left where it went."""
        self.path.unlink(missing_ok=True)


def _is_of_live_process(spilled: Path) -> bool:
    return Path("/proc", spilled.name.removeprefix(SPILL)).exists()


class Spool:
    """The folder of bodies that come in."""

    def __init__(
        self,
        folder: Path,
        *,
        reserve_bytes: int = 0,
        open_file: OpenFile = open_new,
        free_bytes: Callable[[Path], int] = free_bytes,
    ) -> None:
        """reserve_bytes: what uploads must leave free, so that the database can still write."""
        self.folder = folder
        self._reserve_bytes = reserve_bytes
        self._open = open_file
        self._free_bytes = free_bytes
        self._numbers = itertools.count(1)

    def clean(self) -> int:
        """Remove what a killed process left; return how many. Only before serving."""
        left = list(self.folder.iterdir())
        for path in left:
            # DuckDB may have spilled into a separate folder.
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return len(left)

    def sweep(self) -> int:
        """Remove what processes spilled that were killed since; return how many folders."""
        left = [path for path in self.folder.glob(f"{SPILL}*") if not _is_of_live_process(path)]
        for path in left:
            shutil.rmtree(path, ignore_errors=True)
        return len(left)

    def temporary(self, ending: str) -> Path:
        """Return a name in the spool that nothing has yet."""
        return self.folder / f"{os.getpid()}-{next(self._numbers)}{ending}"

    def begin(self, what: Message, *, limit_bytes: int, declared_bytes: int | None) -> SpoolWriter:
        """Open a file for a body. what: the body's kind, as `uploads.crawl_log`.

        Raises LimitError where the declared length is over the limit, StoreFullError where the
        disk has no room for it.
        """
        if declared_bytes is not None and declared_bytes > limit_bytes:
            raise LimitError(
                "uploads.declared_too_large",
                what=what,
                size_bytes=declared_bytes,
                limit_bytes=limit_bytes,
            )
        self.check_room(declared_bytes or 0)
        path = self.temporary(PART)
        with full_disk_said(self.folder):
            return SpoolWriter(self, what, path, limit_bytes, self._open)

    def check_room(self, needed_bytes: int) -> None:
        """Raise StoreFullError unless the disk keeps its reserve after so many bytes."""
        free_bytes = self._free_bytes(self.folder)
        if free_bytes - needed_bytes < self._reserve_bytes:
            raise StoreFullError(
                "store.no_room",
                folder=str(self.folder),
                free_bytes=free_bytes,
                needed_bytes=needed_bytes,
                reserve_bytes=self._reserve_bytes,
            )


class SpoolWriter:
    """One body on its way in. Call `finish` or `abort`; used as a context it aborts by itself."""

    def __init__(
        self, spool: Spool, what: Message, path: Path, limit_bytes: int, open_file: OpenFile
    ) -> None:
        self._spool = spool
        self._what = what
        self._path = path
        self._limit_bytes = limit_bytes
        self._digest = hashlib.sha256()
        self._unchecked_bytes = 0
        self.size_bytes = 0
        self._file = open_file(path)
        self._finished = False

    def write(self, chunk: bytes) -> None:
        """Add bytes; raises LimitError at the limit, StoreFullError when the disk is full."""
        self.size_bytes += len(chunk)
        if self.size_bytes > self._limit_bytes:
            raise LimitError("uploads.too_large", what=self._what, limit_bytes=self._limit_bytes)
        self._unchecked_bytes += len(chunk)
        if self._unchecked_bytes >= ROOM_CHECK_BYTES:
            self._spool.check_room(0)
            self._unchecked_bytes = 0
        self._digest.update(chunk)
        with full_disk_said(self._path.parent):
            self._file.write(chunk)

    def finish(self) -> Spooled:
        """Sync the body to the disk and return it."""
        with full_disk_said(self._path.parent):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            whole = self._path.with_suffix(BODY)
            move(self._path, whole)
        self._finished = True
        return Spooled(whole, self._digest.hexdigest(), self.size_bytes)

    def abort(self) -> None:
        """Leave nothing of the body; harmless after `finish`."""
        if self._finished:
            return
        try:
            # Closing flushes what never fitted; the reason is under way already.
            with contextlib.suppress(StoreFullError), full_disk_said(self._path.parent):
                self._file.close()
        finally:
            self._path.unlink(missing_ok=True)

    def __enter__(self) -> SpoolWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()


ROOM_CHECK_BYTES: Final = 64 * 1024**2
