"""The installation id: one row, made with the database, that a backup takes along.

Invariant: the id never changes while the database lives; replicas of one database share it.
"""

from __future__ import annotations

import socket

import sqlalchemy as sa

from manager.db.connections import sqlite_file
from manager.db.engine import Database
from manager.db.tables import archive_jobs, installation, releases, reports, segments, transfers
from manager.db.transaction import Transaction
from shared.errors import SettingError
from shared.frozen import frozen

__all__ = [
    "Installation",
    "counts_of_named",
    "database_identity",
    "installation_of",
    "set_installation",
]


@frozen
class Installation:
    """The identity of a database. uuid: random, the installation id."""

    uuid: str
    created_ms: int


def installation_of(tx: Transaction) -> Installation:
    """Return the identity of a database that has its tables. Raises SettingError without a row."""
    row = tx.row(Installation, sa.select(installation.c.uuid, installation.c.created_ms))
    if row is None:
        raise SettingError("database.no_installation_id")
    return row


def set_installation(tx: Transaction, uuid: str) -> None:
    """Give a database the id of the files that it takes over."""
    tx.execute(installation.update().values(uuid=uuid))


def counts_of_named(tx: Transaction) -> dict[str, int]:
    """Return how many files of each kind rows name."""
    wanted = archive_jobs.c.state.in_(("queued", "running", "complete"))
    under_way = transfers.c.state.in_(("receiving", "received"))
    kept = tx.count(segments, segments.c.state != "gone")
    return {
        "indexes": kept,
        "segments": kept,
        "results": tx.count(archive_jobs, wanted),
        "uploads": tx.count(transfers, under_way),
        "logs": tx.count(reports, reports.c.path != ""),
        "releases": tx.count(releases),
    }


def database_identity(db: Database) -> str:
    """Return what tells a database from each copy of it that lives elsewhere. Raises BusyError.

    Replicas of one database get the same; a copy, or a restored backup, gets another.
    """
    if db.is_sqlite:
        path = sqlite_file(db.engine.url.render_as_string(hide_password=False))
        assert path is not None, "a database of SQLite has a file"
        found = path.stat()
        return f"sqlite {found.st_dev}:{found.st_ino} {socket.gethostname()}"
    with db.read() as tx:
        return str(tx.value(_POSTGRES))


_POSTGRES = sa.text(
    "SELECT 'postgresql ' || system_identifier || ' ' || oid"
    " FROM pg_control_system(), pg_database WHERE datname = current_database()"
)
