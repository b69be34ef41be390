"""Open the database and give transactions: SQLite for one manager, PostgreSQL for several.

Invariant: write transactions run one after the other, on either database, and each sees all that
was committed before it began. So an operation may read, decide and write without thinking of
another one in between (docs/adr/0010). Readers never wait and see one state of the whole database.
Acknowledged means durable: a commit returns after the disk has it.
What is kept is left to `tables`, how it is asked for to the modules beside this one.
"""

from __future__ import annotations

import copy
import shutil
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import sqlalchemy as sa

from manager.db.connections import WAIT_S, open_engine
from manager.db.damage import MET_CHECK_S, Damage, quick_check
from manager.db.error_translation import translated_errors
from manager.db.figure_cache import FigureCache
from manager.db.host_names import HostNames
from manager.db.transaction import Transaction
from manager.errors import BusyError, DamagedDatabaseError, FullDatabaseError

__all__ = ["Database", "Transaction"]

IDLE_S: Final = 10.0
"""How long a write may ask PostgreSQL nothing: a manager that was stopped in the middle of one
holds up all others for so long. Between two statements is at most some computing."""

_WRITER: Final = 0x5052534D  # "PRSM": the advisory lock that stands for the right to write

_TURN: Final = sa.text(
    "SELECT set_config('lock_timeout', :wait, true),"
    " set_config('idle_in_transaction_session_timeout', :idle, true),"
    " pg_advisory_xact_lock(:writer)"
)
"""Take the turn to write. Settings of this transaction only, so that a pooler does no harm."""

T = TypeVar("T")


class Database:
    """A database that is open. `write` and `read` give transactions; any thread may ask.

    `kept`: figures over millions of rows, which may be minutes old. `host_names`: to look for a
    part of an address. `damage`: known damage.
    """

    def __init__(self, url: str) -> None:
        """Open a database by URL: `sqlite:///path` or `postgresql://user@host/name`.

        Opening creates the file of SQLite, readable by its owner only, but no tables: see
        `manager.db.migrate`. Raises SettingError for a URL that is neither.
        """
        self.engine = open_engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        name = self.engine.url.database or ""
        file = Path(name).absolute() if self.is_sqlite else None
        self.damage = Damage(str(file) if file else name, file)
        self._folder = None if file is None else file.parent
        self._turn = threading.Lock()
        self._closed = threading.Event()
        self._no_examining = threading.Event()
        sa.event.listen(self.engine, "checkin", self._given_back)
        self._check: Callable[[Transaction], None] | None = None
        self.figures = FigureCache()
        self.host_names = HostNames()

    def figure(self, key: Hashable, count: Callable[[Transaction], T]) -> T:
        """Return a figure that may be minutes old (`figure_cache`). count: reads it."""

        def read() -> T:
            with self.read() as tx:
                return count(tx)

        return self.figures.get(key, read)

    def fenced(self, check: Callable[[Transaction], None]) -> Self:
        """Return the same database for who may write only while a check raises nothing.

        check: is called at the beginning of each write, in its transaction.
        """
        other = copy.copy(self)
        other._check = check
        return other

    def close(self) -> None:
        """Close all connections; one that a transaction still uses is closed at its end."""
        self._closed.set()
        self._no_examining.set()
        self.figures.close()
        self.engine.dispose()
        self.damage.closed()

    def _given_back(self, _connection: object, record: Any) -> None:
        if self._closed.is_set():
            record.invalidate()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Give a transaction that changes things; commit at the end, roll back on any error.

        Raises BusyError when the turn to write does not come, or the database is gone or damaged.
        Never begin one inside another, never wait for a network or a hash inside one.
        """
        self.damage.refuse()
        with (
            self._my_turn(),
            translated_errors(self._damaged, self._full),
            self.engine.connect() as connection,
        ):
            connection.execution_options(prsm_writes=True)
            with connection.begin():
                if not self.is_sqlite:
                    connection.execute(_TURN, _turn_parameters())
                transaction = Transaction(connection)
                if self._check is not None:
                    self._check(transaction)
                yield transaction

    @contextmanager
    def aside(self) -> Iterator[Transaction]:
        """Give a transaction that changes rows of which each has one writer only.

        On PostgreSQL it does not wait for its turn to write. Raises BusyError.
        """
        if self.is_sqlite:
            with self.write() as transaction:
                yield transaction
            return
        self.damage.refuse()
        with translated_errors(self._damaged, self._full), self.engine.begin() as connection:
            yield Transaction(connection)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Give a transaction that sees one state of the database and changes nothing."""
        with translated_errors(self._damaged, self._full), self.engine.connect() as connection:
            if not self.is_sqlite:
                connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with connection.begin():
                yield Transaction(connection)

    def checkpoint(self) -> None:
        """Copy what SQLite's journal holds into the database, while others read and write.

        Left to the commits, each thousandth page made one of them, and all that wait for their
        turn, wait for hundreds of pages to be written and synced twice. Raises BusyError.
        """
        if self.is_sqlite:
            self.damage.look_at_files()
            self.damage.refuse()
            with translated_errors(self._damaged, self._full):
                connection = self.engine.raw_connection()  # outside any transaction
                try:
                    connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)").close()
                finally:
                    connection.close()

    def examine(self, within_s: float) -> None:
        """Check the file of SQLite for at most so many seconds; 0: without a limit.

        `end_examining` ends it at once. Raises DamagedDatabaseError, BusyError. PostgreSQL is not
        examined.
        """
        if not self.is_sqlite:
            return
        until_s = time.monotonic() + within_s if within_s else float("inf")
        with translated_errors(self._damaged, self._full), self.engine.connect() as connection:
            finding = quick_check(
                connection, lambda: self._no_examining.is_set() or time.monotonic() > until_s
            )
        if finding:
            raise self.damage.found(finding)
        self.damage.sound()

    def end_examining(self) -> None:
        """End a running examination and all later ones at once, because the manager stops."""
        self._no_examining.set()

    def _damaged(self, error: BaseException) -> DamagedDatabaseError:
        """Return what to raise where a statement met damage."""
        return self.damage.met(error, self._check_result)

    def _full(self, why: str) -> FullDatabaseError:
        """Return what to raise where a statement found no room."""
        free_bytes = None
        if self._folder is not None:
            free_bytes = 0
            with suppress(OSError):
                free_bytes = shutil.disk_usage(self._folder).free
        return FullDatabaseError(self.damage.name, free_bytes, why)

    def _check_result(self) -> str:
        if not self.is_sqlite:
            return ""
        until_s = time.monotonic() + MET_CHECK_S
        try:
            with self.engine.connect() as connection:
                return quick_check(connection, lambda: time.monotonic() > until_s)
        except sa.exc.SQLAlchemyError:
            return ""  # the file cannot be opened: the error that was met is the finding

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        # Threads of this process queue here: SQLite's own waiting sleeps between tries and lets
        # latecomers pass.
        if not self._turn.acquire(timeout=WAIT_S):
            raise BusyError("database.no_turn", waited_s=WAIT_S)
        try:
            yield
        finally:
            self._turn.release()


def _turn_parameters() -> dict[str, Any]:
    return {
        "wait": f"{round(WAIT_S * 1000)}",
        "idle": f"{round(IDLE_S * 1000)}",
        "writer": _WRITER,
    }
