"""Put millions of rows into an empty database within minutes.

Nothing is waited for that only a crash would need; references are not looked up, and the indexes
are made when the rows are there: then each is one sort and not a million searches.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import sqlalchemy as sa

from benchmarks.vacuum import engine_of, tidy
from manager.db import Database
from manager.db.engine import Transaction
from manager.db.migrate import migrate

__all__ = ["hurried"]

_SQLITE: Final = (
    "journal_mode = OFF",
    "synchronous = OFF",
    "foreign_keys = OFF",
    "cache_size = -1000000",  # KiB
    "temp_store = MEMORY",
    "threads = 2",
)
_POSTGRESQL: Final = (
    "SET LOCAL session_replication_role = replica",  # no triggers, so no look-up of references
    "SET LOCAL maintenance_work_mem = '512MB'",
    "SET LOCAL work_mem = '256MB'",
)
_INDEXES: Final = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL",
    "postgresql": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND"
    " indexname NOT IN (SELECT conname FROM pg_constraint)",
}
"""Those that no constraint stands for: name, and the statement that makes it."""


@contextmanager
def hurried(url: str) -> Iterator[Transaction]:
    """Make the tables, give a transaction that fills them, then make the indexes and count.

    url: as `Database` takes it, of an empty database without other connections.
    """
    db = Database(url)
    migrate(db)
    db.close()
    engine = engine_of(url)
    is_sqlite = engine.dialect.name == "sqlite"
    if is_sqlite:
        sa.event.listen(engine, "connect", _hurry)
    with engine.begin() as connection:
        for setting in () if is_sqlite else _POSTGRESQL:
            connection.exec_driver_sql(setting)
        made = connection.exec_driver_sql(_INDEXES[engine.dialect.name]).all()
        for name, _ in made:
            connection.exec_driver_sql(f'DROP INDEX "{name}"')
        yield Transaction(connection)
        for _, statement in made:
            connection.exec_driver_sql(statement)
    engine.dispose()
    tidy(url)


def _hurry(connection: Any, _record: object) -> None:
    for pragma in _SQLITE:
        connection.execute(f"PRAGMA {pragma}")
