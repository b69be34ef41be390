"""Entry point of Alembic: runs the steps on the connection of `manager.db.migrate` or a new one.

Alembic's own commands (`alembic.ini`) open the database that `-x url=...` names, else that of the
manager whose data directory is $PRSM_DATA.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from alembic import context

from manager.db.engine import Database
from manager.db.tables import metadata
from manager.settings import read_settings
from manager.store.layout import Layout


@contextmanager
def connection() -> Iterator[sa.Connection]:
    """Give the caller's connection, or one to the database that the command line names."""
    given = context.config.attributes.get("connection")
    if given is not None:
        yield given
        return
    database = Database(database_url())
    try:
        with database.write() as tx:
            yield tx.connection
    finally:
        database.close()


def database_url() -> str:
    """Return the URL of `-x url=...`, else of the manager in $PRSM_DATA. Raises SystemExit."""
    arguments = context.get_x_argument(as_dictionary=True)
    if "url" in arguments:
        return str(arguments["url"])
    data = os.environ.get("PRSM_DATA")
    if not data:
        raise SystemExit("Name the database: alembic -x url=URL ..., or set PRSM_DATA")
    settings = read_settings(Path(data))
    return settings.database.url or f"sqlite:///{Layout(settings.data).database}"


if context.is_offline_mode():
    raise SystemExit("--sql is not supported: steps look at the rows of the database")
with connection() as opened:
    context.configure(
        connection=opened,
        target_metadata=context.config.attributes.get("metadata", metadata),
        render_as_batch=True,  # SQLite changes a column only by copying the table
        transactional_ddl=True,
    )
    # The caller's transaction is the step's: all of it or nothing.
    context.run_migrations()
