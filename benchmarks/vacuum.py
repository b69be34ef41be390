"""A database that was filled at once, as one that has had its rows for long."""

from __future__ import annotations

import sqlalchemy as sa

__all__ = ["engine_of", "tidy"]


def engine_of(url: str) -> sa.Engine:
    """Return an engine of a database. url: as `manager.db.engine.Database` takes it."""
    return sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))


def tidy(url: str) -> None:
    """Do at once what a database does by and by with many new rows.

    Left to PostgreSQL, its vacuum and its checkpoint fall into the second minute of the
    measurement, and commits wait a second for the disk.
    """
    engine = engine_of(url)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("ANALYZE")
        else:
            connection.exec_driver_sql("VACUUM ANALYZE")
            connection.exec_driver_sql("CHECKPOINT")
    engine.dispose()
