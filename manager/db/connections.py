"""Connections to SQLite and PostgreSQL, as `manager.db.engine` wants them.

Invariant: a commit returns after the disk has it, on either; each wait ends, with its reason.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from manager.db.compiled_statements import share_compiled
from manager.errors import DamagedDatabaseError
from shared.errors import SettingError
from shared.messages import Message

__all__ = ["CONNECTIONS", "CONNECTION_S", "WAIT_S", "open_engine", "sqlite_file"]

WAIT_S: Final = 30.0
"""How long a write waits for its turn before it is refused as busy; a plan of a million moves
takes seconds."""

CONNECTIONS: Final = 30
"""At once, of one process."""
CONNECTION_S: Final = 30.0
"""How long one is waited for that others have."""

CONNECT_S: Final = 5
"""How long a server that does not answer is waited for, in whole seconds as libpq has it."""

WAL_PAGES: Final = 16_384
"""How long SQLite's journal gets before a commit itself copies it into the database, 64 MiB. It is
copied before, beside the commits, by `Database.checkpoint`, which leaves little to do then."""


_KEPT_OPEN: Final = 10
_POOL: Final[dict[str, Any]] = {
    "pool_size": _KEPT_OPEN,
    "max_overflow": CONNECTIONS - _KEPT_OPEN,
    "pool_timeout": CONNECTION_S,
}


def sqlite_file(url: str) -> Path | None:
    """Return the file of a database of SQLite; None: it is another. Raises SettingError."""
    parsed = _parsed(url)
    if parsed.drivername != "sqlite" or not parsed.database:
        return None
    return Path(parsed.database)


def open_engine(url: str) -> sa.Engine:
    """Return the connections to a database, opened as they are needed. Raises SettingError."""
    parsed = _parsed(url)
    if parsed.drivername == "sqlite":
        return _sqlite(parsed)
    if parsed.drivername in ("postgresql", "postgresql+psycopg"):
        engine = sa.create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,  # a restarted server costs one question, not one failed request
            # A machine that vanished is noticed within half a minute, not after hours.
            connect_args={
                "connect_timeout": CONNECT_S,
                "keepalives_idle": 10,
                "keepalives_interval": 5,
                "keepalives_count": 3,
                "tcp_user_timeout": 30_000,
            },
            **_POOL,
        )
        share_compiled(engine)
        sa.event.listen(engine, "connect", _one_core_each)
        return engine
    raise SettingError(
        "database.unsupported",
        url=parsed.render_as_string(hide_password=True),
        driver=parsed.drivername,
    )


def _parsed(url: str) -> sa.URL:
    try:
        return sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise SettingError("database.not_a_url", url=url) from error


def _one_core_each(connection: Any, _record: object) -> None:
    """Limit each query of PostgreSQL to one core, as SQLite's take: a figure over a million rows,
    counted behind a page, would take all, and the pages of others wait (docs/adr/0160)."""
    connection.autocommit = True  # or it would end with the first transaction that is rolled back
    connection.execute("SET max_parallel_workers_per_gather = 0")
    connection.autocommit = False


def _check_not_emptied(path: Path) -> None:
    """Raise DamagedDatabaseError for an empty or missing file beside a journal that holds changes.

    SQLite would delete that journal when it opens the file.
    """
    journal = path.with_name(f"{path.name}-wal")
    if _size(journal) and not _size(path):
        raise DamagedDatabaseError(
            str(path.absolute()), Message("database.emptied", journal=journal.name)
        )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _sqlite(url: sa.URL) -> sa.Engine:
    if not url.database or url.database == ":memory:":
        raise SettingError("database.no_path")
    path = Path(url.database)
    if not path.parent.is_dir():
        raise SettingError("database.no_folder", path=str(path), folder=str(path.parent))
    if path.is_dir():
        raise SettingError("database.is_folder", path=str(path))
    _check_not_emptied(path)
    try:
        path.touch(mode=0o600)
    except OSError as error:
        raise SettingError(
            "database.not_writable", path=str(path), problem=error.strerror
        ) from error
    engine = sa.create_engine(url, connect_args={"timeout": WAIT_S}, **_POOL)
    share_compiled(engine)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        # The driver's own transactions begin late and end early; ours are written out below.
        connection.isolation_level = None
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "foreign_keys = ON",
            f"wal_autocheckpoint = {WAL_PAGES}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("prsm_writes")
        # A deferred transaction that turns writer late can fail instead of waiting.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
