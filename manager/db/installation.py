"""The installation id: one row, made with the database, that a backup takes along.

Invariant: the id never changes while the database lives; replicas of one database share it.
"""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.engine import Transaction
from manager.db.tables import installation
from shared.errors import SettingError
from shared.frozen import frozen

__all__ = ["Installation", "installation_of"]


@frozen
class Installation:
    """The identity of a database. uuid: random, the installation id."""

    uuid: str
    created_ms: int


def installation_of(tx: Transaction) -> Installation:
    """Return the identity of a database that has its tables. Raises SettingError without a row."""
    row = tx.row(Installation, sa.select(installation.c.uuid, installation.c.created_ms))
    if row is None:
        raise SettingError(
            "the database has no installation id: its table `installation` is empty; restore a "
            "backup with `prsm restore`"
        )
    return row
