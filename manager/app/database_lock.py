"""One manager for a file of SQLite, whatever directory and name it is opened by.

Invariant: whoever holds the lock is alive; it is of the file itself, so links to it share it, and
the kernel gives it back when the process ends, however it ends. It is no lock of SQLite's own:
commands read and write beside a manager. The file is opened before SQLite opens it and closed after
that, because closing it would take SQLite's locks away.
"""

from __future__ import annotations

import fcntl
import logging
import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from manager.store import StoreError

__all__ = ["DatabaseLock"]

_log: Final = logging.getLogger(__name__)


class DatabaseLock:
    """The right to serve a file of SQLite; a context."""

    def __init__(self, path: Path) -> None:
        """Take the lock of a file, which is made where there is none.

        Raises StoreError: another manager serves it, or the file cannot be opened.
        """
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(
                "database.not_writable", path=str(path), problem=error.strerror
            ) from error
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
        """Release the lock; call it after SQLite has closed the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
