"""Bring a database to the schema of this version, with Alembic; the steps ship in the wheel.

Invariant: after `migrate` the database has exactly the tables of `manager.db.tables`. A step is
one transaction on both databases, so a failed upgrade leaves the old schema.
"""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa

import migrations
from manager.db.engine import Database
from manager.db.tables import metadata
from manager.db.transaction import Transaction
from shared.errors import SettingError

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = [
    "check_current",
    "check_known",
    "check_unversioned",
    "is_current",
    "migrate",
    "migrate_to",
    "newest_schema",
    "schema_version",
]

STEPS: Final = Path(migrations.__file__).parent
VERSION_TABLE: Final = "alembic_version"
_VERSION: Final[sa.Select[tuple[str]]] = sa.select(sa.column("version_num")).select_from(
    sa.table(VERSION_TABLE)
)
"""One row: each step has one before it."""

_log: Final = logging.getLogger(__name__)


def migrate(database: Database) -> None:
    """Create the tables, or upgrade them; nothing to do is fine.

    Raises SettingError when the database was made by a newer version, or lacks tables.
    """
    with database.write() as tx:
        before = migrate_to(tx, "head")
        _refuse_missing_tables(tx)
    if before is None:
        _log.info("database: made with schema %s", newest_schema())
    elif before != newest_schema():
        _log.info("database: schema brought from %s to %s", before, newest_schema())


def migrate_to(tx: Transaction, target: str) -> str | None:
    """Bring a database to a schema, `head` the newest: up or down, in the caller's transaction.

    Returns the schema that it had before. Raises SettingError when this version does not know the
    schema that there is, or the target, or the tables are another program's.
    """
    version = _version(tx)
    if version is not None:
        check_known(version)
    else:
        _refuse_other_tables(tx)
    wanted = newest_schema() if target == "head" else target
    check_known(wanted)
    if version == wanted:
        return version
    from alembic import command  # noqa: PLC0415 - not for each start: it takes 0.15 s

    config = _config()
    config.attributes["connection"] = tx.connection
    if version is not None and version > wanted:
        command.downgrade(config, wanted)
    else:
        command.upgrade(config, wanted)
    return version


def check_unversioned(database: Database) -> str:
    """Return the schema of a database, empty where it has none and no tables.

    Raises SettingError where it has tables and no schema: it is not an empty one.
    """
    with database.read() as tx:
        version = _version(tx)
        if version is None:
            _refuse_other_tables(tx)
    return version or ""


def _refuse_other_tables(tx: Transaction) -> None:
    names = sorted(set(sa.inspect(tx.connection).get_table_names()) - {VERSION_TABLE})
    if not names:
        return
    database = tx.connection.engine.url.database
    if set(names) & set(metadata.tables):
        raise SettingError(
            "database.unversioned_tables",
            database=database,
            tables=names[:3],
            version_table=VERSION_TABLE,
        )
    raise SettingError("database.foreign_tables", database=database, tables=names[:3])


def _refuse_missing_tables(tx: Transaction) -> None:
    missing = sorted(set(metadata.tables) - set(sa.inspect(tx.connection).get_table_names()))
    if missing:
        raise SettingError(
            "database.missing_tables",
            database=tx.connection.engine.url.database,
            schema=_version(tx),
            tables=missing[:3],
        )


def check_known(version: str) -> None:
    """Raise SettingError for a schema that this version does not know."""
    if version not in _known():
        raise SettingError("database.unknown_schema", schema=version)


def check_current(database: Database) -> None:
    """Raise SettingError unless the database has the schema of this version."""
    version, newest = schema_version(database), newest_schema()
    if version != newest:
        code = "database.other_schema" if version else "database.no_schema"
        raise SettingError(code, schema=version, newest=newest)


def newest_schema() -> str:
    """Return the schema of this version."""
    return max(_known())


def schema_version(database: Database) -> str:
    """Return the schema of a database, empty where it has none."""
    with database.read() as tx:
        return _version(tx) or ""


def is_current(database: Database) -> bool:
    """Return whether the database has the schema of this version."""
    with database.read() as tx:
        return _version(tx) == newest_schema()


def _config() -> Config:
    from alembic.config import Config  # noqa: PLC0415 - as above

    config = Config()
    config.set_main_option("script_location", str(STEPS))
    config.attributes["metadata"] = metadata
    return config


def _version(tx: Transaction) -> str | None:
    if not sa.inspect(tx.connection).has_table(VERSION_TABLE):
        return None
    found: str | None = tx.value(_VERSION)
    return found


@cache
def _known() -> frozenset[str]:
    """Return the schemas of this version: each is a step, a file that begins with its name."""
    files = (STEPS / "versions").glob("[0-9]*_*.py")
    return frozenset(file.name.partition("_")[0] for file in files)
