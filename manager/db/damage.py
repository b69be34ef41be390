"""Damage of the database: recognised by its error codes, named by the database's own check.

Invariant: once damage was met, it is remembered until the process ends, and `Database.write`
refuses: what is written into a damaged file may be lost, and may damage more of it. Nothing here
deletes or repairs; a person restores a backup.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from manager.errors import DamagedDatabaseError
from shared.messages import Message

__all__ = ["Damage", "is_damage", "quick_check"]

FINDINGS: Final = 3
FINDING_LENGTH: Final = 200
MET_CHECK_S: Final = 10.0
"""How long the file is examined when damage is met: a request waits for it."""
LOOK_S: Final = 0.1
"""Between two looks at the clock while the file is examined."""

_log: Final = logging.getLogger(__name__)
_PRIMARY: Final = 0xFF
_SQLITE: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_POSTGRESQL: Final = {"XX001", "XX002"}  # data_corrupted, index_corrupted
_NOT_TEXT: Final = "Could not decode to UTF-8"


def is_damage(error: BaseException | None) -> bool:
    """Return whether an error of a driver means that the database is damaged."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & _PRIMARY in _SQLITE:
            return True
        return _NOT_TEXT in str(error)
    return getattr(error, "sqlstate", None) in _POSTGRESQL


class Damage:
    """Known damage of one database; thread-safe.

    name: the file of SQLite, or the name of the database at its server.
    """

    def __init__(self, name: str, file: Path | None) -> None:
        """file: of SQLite; None: the database is a server's."""
        self.name = name
        self._files: tuple[Path, ...] = (
            () if file is None else (file, file.with_name(f"{file.name}-wal"))
        )
        self._seen: dict[Path, tuple[int, int]] = {}
        self._known: DamagedDatabaseError | None = None
        self._finding = threading.Lock()
        self._kept: Path | None = None
        self._keep_journal()

    @property
    def known(self) -> DamagedDatabaseError | None:
        """Return the damage that was met; None: none was."""
        return self._known

    def refuse(self) -> None:
        """Raise DamagedDatabaseError where damage was met before."""
        if self._known is not None:
            raise self._again()

    def met(self, error: BaseException, check: Callable[[], str]) -> DamagedDatabaseError:
        """Remember damage that a statement met; return the error to raise.

        check: returns the finding of the database's own check, empty where it finds nothing.
        """
        with self._finding:
            if self._known is None:
                self._known = self._error(check() or _one_line(error))
            return self._again()

    def found(self, finding: str | Message) -> DamagedDatabaseError:
        """Remember what a check found; return the error to raise."""
        with self._finding:
            if self._known is None:
                self._known = self._error(finding)
            return self._again()

    def look_at_files(self) -> None:
        """Remember that a file was removed or replaced under a manager that has it open."""
        for file in self._files if self._known is None else ():
            now, before = _identity(file), self._seen.get(file)
            if before is None and now is not None:
                self._seen[file] = now
            elif before != now:
                how = "removed" if now is None else "replaced"
                self.found(Message(f"database.{how}_while_open", file=file.name))

    def closed(self) -> None:
        """Give the journal of a damaged file back its name, after the last connection is closed.

        SQLite copies the journal into the file then, and deletes it: with a damaged file the
        journal may be what a person needs.
        """
        if self._known is None:
            self.sound()
            return
        if self._kept is not None and not self._files[1].exists():
            with suppress(OSError):
                self._kept.rename(self._files[1])
        self.sound()

    def sound(self) -> None:
        """Keep the journal no more: an examination found nothing."""
        if self._kept is not None:
            self._kept.unlink(missing_ok=True)
            self._kept = None

    def _keep_journal(self) -> None:
        """Give the journal a second name, until the file was examined or is closed."""
        if not self._files or self._kept is not None:
            return
        journal = self._files[1]
        for left in journal.parent.glob(f"{journal.name}.*"):
            if not _lives(left.suffix.removeprefix(".")):
                left.unlink(missing_ok=True)
        kept = journal.with_name(f"{journal.name}.{os.getpid()}")
        with suppress(OSError):
            if journal.stat().st_size:
                kept.hardlink_to(journal)
                self._kept = kept

    def _again(self) -> DamagedDatabaseError:
        assert self._known is not None
        # A new exception for each raise, with its own traceback.
        return DamagedDatabaseError(self._known.file, self._known.finding)

    def _error(self, finding: str | Message) -> DamagedDatabaseError:
        error = DamagedDatabaseError(self.name, finding)
        self._keep_journal()
        _log.error("%s", error)
        return error


def quick_check(connection: sa.Connection, is_over: Callable[[], bool]) -> str:
    """Return what `PRAGMA quick_check` finds in a file of SQLite; empty: nothing, or no time.

    is_over: tells, asked again and again from another thread, whether the time is over.
    """
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    done = threading.Event()

    def watch() -> None:
        while not done.wait(LOOK_S):
            if is_over():
                raw.interrupt()

    watcher = threading.Thread(target=watch, name="quick_check", daemon=True)
    watcher.start()
    try:
        rows = connection.exec_driver_sql(f"PRAGMA quick_check({FINDINGS})").scalars().all()
    except DBAPIError as error:
        if is_damage(error.orig):
            return _one_line(error.orig)
        if getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
            return ""
        raise
    finally:
        done.set()
        watcher.join()  # an interrupt that came late would end the next statement
    said = "; ".join(_one_line(row) for row in rows)
    return "" if said == "ok" else said


def _one_line(error: object) -> str:
    return " ".join(str(error).split())[:FINDING_LENGTH]


def _lives(process: str) -> bool:
    """Return whether the process with this number runs; True where the text is no number."""
    if not process.isdigit():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
