"""A database with all tables and no rows, as a file of SQLite.

To make it, every step since the first release is taken: a quarter of a second, for each of a
thousand tests.
"""

from __future__ import annotations

import tempfile
import uuid
from functools import cache
from pathlib import Path

from manager.db.engine import Database
from manager.db.migrate import migrate
from manager.operations.identity.installation import installation_id

__all__ = ["empty_database", "new_database"]


def empty_database() -> bytes:
    """Return what such a file holds; made once a process."""
    return _template()[0]


def new_database() -> bytes:
    """Return the same with an installation id of its own."""
    data, name = _template()
    return data.replace(name, str(uuid.uuid4()).encode())


@cache
def _template() -> tuple[bytes, bytes]:
    """Return what the file holds, and its installation id, which stands in it once."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "prsm.sqlite"
        opened = Database(f"sqlite:///{path}")
        migrate(opened)
        name = installation_id(opened).encode()
        with opened.engine.connect() as connection:
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.exec_driver_sql("BEGIN")
        opened.close()
        data = path.read_bytes()
    assert data.count(name) == 1
    return data, name
