"""Bring a database to the schema of this version, with Alembic; the steps ship in the wheel.

Invariant: after `migrate` the database has exactly the tables of `manager.db.tables`. A step is
one transaction on both databases, so a failed upgrade leaves the old schema.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

import migrations
from manager.db.engine import Database, Transaction
from manager.db.tables import metadata
from shared.errors import SettingError

__all__ = ["is_current", "migrate"]


def migrate(database: Database) -> None:
    """Create the tables, or upgrade them; nothing to do is fine.

    Raises SettingError when the database was made by a newer version.
    """
    config = _config()
    with database.write() as tx:
        version = _version(tx)
        if version is not None and version not in _known(config):
            raise SettingError(
                f"the database has schema {version}, which this version does not know: "
                "it was made by a newer one; install that, or open another database"
            )
        config.attributes["connection"] = tx.connection
        command.upgrade(config, "head")


def is_current(database: Database) -> bool:
    """Tell whether the database has the schema of this version."""
    with database.read() as tx:
        return _version(tx) == ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.attributes["metadata"] = metadata
    return config


def _version(tx: Transaction) -> str | None:
    if not sa.inspect(tx.connection).has_table("alembic_version"):
        return None
    return MigrationContext.configure(tx.connection).get_current_revision()


def _known(config: Config) -> set[str]:
    scripts = ScriptDirectory.from_config(config)
    return {script.revision for script in scripts.walk_revisions()}
