"""SQLite with one open transaction, which a full disk delays but does not lose.

Every change goes into the open transaction at once, so that every reader sees it. The changes are
noted too: where a COMMIT fails for want of room, SQLite rolls everything back, and the notes are
run again in a new transaction. Nothing is written to the disk before COMMIT (`cache_spill`), so
that works on a full disk, and reading continues.

Synchronous is FULL: with NORMAL a loss of power could take back a transaction after which
something was already told to the manager.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, Generic, TypeVar

from agent.adapters.ledger.migration import from_version_1, from_version_2_on
from agent.adapters.ledger.schema import OLDEST, TABLES, VERSION
from agent.adapters.ledger.trash import Trash
from agent.errors import HomeError
from shared.archive.errors import DiskFullError

__all__ = ["DATABASE", "SEEN", "Database", "Query", "Value"]

Value = int | float | str | bytes | None
Row = Sequence[Value]
Columns = TypeVar("Columns")


class Query(str, Generic[Columns]):
    """A query with the types of the columns that it returns: `Query[tuple[int, str]]("...")`.

    The types are those of `schema.py`; nothing checks them while rows are read.
    """

    __slots__ = ()


DATABASE: Final = "ledger.sqlite"
SEEN: Final = "seen"
"""The folder of the runs of known keys, beside the database."""

BUSY_S: Final = 30.0
CACHE_KIB: Final = 32 * 1024

_FULL: Final = frozenset(
    (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
)


class Database:
    """The ledger's database; this process is its only writer."""

    def __init__(self, path: Path) -> None:
        """Open it, or make it.

        Raises HomeError for a file that is no ledger of ours, DiskFullError.
        """
        self.path = path
        self._notes: list[tuple[str, Sequence[Row]]] = []
        if not path.exists() or not path.stat().st_size:
            # Of the database that is lost; SQLite would delete them, or put them into the new one.
            for suffix in ("-wal", "-shm"):
                Trash(path.parent).take(path.with_name(path.name + suffix))
        with ExitStack() as stack:
            try:
                self._connection = stack.enter_context(closing(_connect(path)))
                self._reader = stack.enter_context(closing(_connect(path)))
                self._prepare()
            except sqlite3.OperationalError as error:
                raise self._failure(error) from error
            except sqlite3.DatabaseError as error:
                raise self._broken(error) from error
            self._open = stack.pop_all()

    @property
    def changed(self) -> bool:
        """Return whether anything waits for a commit."""
        return bool(self._notes)

    def run(self, statement: str, row: Row = ()) -> int:
        """Change something; return how many rows it changed."""
        return self.run_many(statement, [row])

    def run_many(self, statement: str, rows: Sequence[Row]) -> int:
        """Change something for each row of values; return how many rows it changed."""
        if not rows:
            return 0
        self._begin()
        try:
            changed = self._apply(statement, rows)
        except sqlite3.OperationalError as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")  # some of the rows may be in
            self._restore()
            raise self._failure(error) from error
        except sqlite3.DatabaseError as error:
            raise self._broken(error) from error
        if changed:
            self._notes.append((statement, rows))
        return changed

    def ask(self, query: Query[Columns], row: Row = ()) -> list[Columns]:
        """Return the rows of a query, with what is not committed yet."""
        try:
            return self._connection.execute(query, row).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._broken(error) from error

    def ask_committed(self, query: Query[Columns], row: Row = ()) -> list[Columns]:
        """Return the rows of a query as the last commit left them: what a crash would leave."""
        try:
            return self._reader.execute(query, row).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._broken(error) from error

    def commit(self) -> None:
        """Make all changes durable.

        Raises DiskFullError: they are kept, call again when there is room.
        """
        if not self._connection.in_transaction:
            return
        try:
            self._connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self._restore()
            raise self._failure(error) from error
        self._notes.clear()

    def close(self) -> None:
        """Close; uncommitted changes are lost."""
        self._open.close()

    def _prepare(self) -> None:
        ask = self._connection.execute
        mode = ask("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise HomeError("agent_errors.no_write_ahead_log", path=str(self.path), mode=mode)
        ask("PRAGMA synchronous = FULL")
        ask("PRAGMA cache_spill = OFF")
        ask("PRAGMA temp_store = MEMORY")
        ask(f"PRAGMA cache_size = -{CACHE_KIB}")
        version = ask("PRAGMA user_version").fetchone()[0]
        if version == 0 and not ask("SELECT 1 FROM sqlite_master").fetchone():
            ask("BEGIN IMMEDIATE")
            for table in TABLES:
                ask(table)
            ask(f"PRAGMA user_version = {VERSION}")
            ask(f"PRAGMA application_id = {OLDEST}")
            ask("COMMIT")
        elif version == 1:
            from_version_1(self._connection, self.path.parent / SEEN)
        elif 2 <= version < VERSION:
            from_version_2_on(self._connection, version)
        elif version != VERSION and not self._is_ours_too(version):
            raise HomeError(
                "agent_errors.ledger_version",
                path=str(self.path),
                version=version,
                known=VERSION,
            )

    def _is_ours_too(self, version: int) -> bool:
        """Return whether a newer program's ledger is one that this program can use, too."""
        oldest: int = self._connection.execute("PRAGMA application_id").fetchone()[0]
        return version > VERSION >= oldest > 0

    def _begin(self) -> None:
        if not self._connection.in_transaction:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                raise self._failure(error) from error

    def _apply(self, statement: str, rows: Sequence[Row]) -> int:
        if len(rows) == 1:
            return self._connection.execute(statement, rows[0]).rowcount
        return self._connection.executemany(statement, rows).rowcount

    def _restore(self) -> None:
        """Make the changes again that SQLite rolled back."""
        if self._connection.in_transaction:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for statement, rows in self._notes:
                self._apply(statement, rows)
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def _failure(self, error: sqlite3.OperationalError) -> Exception:
        if error.sqlite_errorcode in _FULL:
            return DiskFullError(
                "agent_errors.no_room_for_state", path=str(self.path), why=str(error)
            )
        return self._broken(error)

    def _broken(self, error: sqlite3.Error) -> HomeError:
        return HomeError("agent_errors.ledger_failed", path=str(self.path), why=str(error))


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, cached_statements=256)
