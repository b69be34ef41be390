"""Bring the tables to another schema by hand: up before a rolling upgrade, down after one.

Invariant: managers of a newer version never run on an older schema: going down is refused while any
gave a sign of life within a minute. Upgrades only add (docs/operations.md), so managers of the
version before go on beside those of this one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from manager.app.compose import layout_of
from manager.app.lock import held_by_us
from manager.db import Database
from manager.db.migrate import migrate_to, newest_schema, schema_version
from manager.operations.managers import seen_lately
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

    Raises SettingError, StoreError (a manager serves the directory), BusyError.
    """
    with _opened(settings) as db:
        before = schema_version(db)
        alone = held_by_us(layout_of(settings).lock) if db.is_sqlite else contextlib.nullcontext()
        with alone:
            if target != "head" and target < before:
                serving = seen_lately(db, now_ms - SEEN_MS)
                if serving:
                    raise SettingError(
                        f"going down from {before} to {target}: {', '.join(serving)} still "
                        "serves; end all managers of this version first, then wait a minute"
                    )
            with db.write() as tx:
                migrate_to(tx, target)
        return Schema(schema_version(db), newest_schema())


@contextlib.contextmanager
def _opened(settings: Settings) -> Iterator[Database]:
    layout = layout_of(settings)
    if not settings.database.url and not layout.database.exists():
        raise SettingError(f"{layout.database}: there is no database; `prsm serve` makes one")
    db = Database(settings.database.url or f"sqlite:///{layout.database}")
    try:
        db.examine(EXAMINE_S)
        yield db
    finally:
        db.close()
