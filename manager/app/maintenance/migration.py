"""Migrate the tables to another schema by hand: up before a rolling upgrade, down after one.

Invariant: managers of a newer version never run on an older schema: a downgrade is refused while
any gave a sign of life within a minute. Upgrades only add (docs/operations.md), so managers of the
previous version continue beside those of this one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from manager.app.archive_keeper import store_of
from manager.app.composition import layout_of, url_of
from manager.app.locks import DatabaseLock, is_locked_by_us
from manager.db import Database
from manager.db.connections import sqlite_file
from manager.db.migrate import migrate_to, newest_schema, schema_version
from manager.operations.identity.file_marks import refuse_new_database
from manager.operations.identity.installation import MarkedFiles
from manager.operations.identity.managers import seen_lately
from manager.settings import Settings
from shared.errors import SettingError
from shared.frozen import frozen

__all__ = ["Schema", "change_schema", "schema_of"]

SEEN_MS: Final = 60_000
EXAMINE_S: Final = 2.0


@frozen
class Schema:
    """The schema of a database, empty: none; and the newest that this version knows."""

    version: str
    newest: str


def schema_of(settings: Settings) -> Schema:
    """Return what the database has. Raises SettingError, BusyError."""
    with _opened(settings) as db:
        return Schema(schema_version(db), newest_schema())


def change_schema(settings: Settings, target: str, now_ms: int) -> Schema:
    """Bring the database to a schema, `head` the newest; all of it or nothing.

    One that has no tables is made only where no files are. Raises SettingError, StoreError (a
    manager serves the directory or the database, files are there), BusyError.
    """
    with contextlib.ExitStack() as alone:
        path = sqlite_file(url_of(settings))
        if path is not None:
            alone.enter_context(is_locked_by_us(layout_of(settings).lock))
            _check_there(path)
            alone.callback(DatabaseLock(path).close)
        with _opened(settings) as db:
            before = schema_version(db)
            if not before:
                layout = layout_of(settings)
                files = MarkedFiles(layout, store_of(settings.archive, layout))
                refuse_new_database(files, db.engine.url.render_as_string(hide_password=True))
            if target != "head" and target < before:
                serving = seen_lately(db, now_ms - SEEN_MS)
                if serving:
                    raise SettingError(
                        "database.downgrade_while_serving",
                        before=before,
                        target=target,
                        managers=serving,
                    )
            with db.write() as tx:
                migrate_to(tx, target)
            return Schema(schema_version(db), newest_schema())


@contextlib.contextmanager
def _opened(settings: Settings) -> Iterator[Database]:
    url = url_of(settings)
    path = sqlite_file(url)
    if path is not None:
        _check_there(path)
    with contextlib.closing(Database(url)) as db:
        db.examine(EXAMINE_S)
        yield db


def _check_there(path: Path) -> None:
    if not path.exists() or not path.stat().st_size:
        raise SettingError("database.missing", path=str(path))
