"""Stamps that the managers of this database have put on the lease of its files.

Each sign of life has a new stamp, written here before it is on the lease. So a copy of the
database, however it was made, does not know what the managers of the first wrote since.
"""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from manager.db.tables import lease_stamps
from manager.db.transaction import Transaction

__all__ = ["add", "forget", "knows"]


def knows(tx: Transaction, stamp: str) -> bool:
    """Return whether a manager of this database wrote a stamp."""
    found = tx.value(sa.select(lease_stamps.c.stamp).where(lease_stamps.c.stamp == stamp))
    return found is not None


def add(tx: Transaction, stamp: str, now_ms: int) -> None:
    """Write down a stamp before it is used."""
    tx.insert(lease_stamps, [{"stamp": stamp, "written_ms": now_ms}])


def forget(tx: Transaction, before_ms: int, seen: Collection[str]) -> None:
    """Forget older stamps, but those that were seen on a lease now."""
    older = lease_stamps.c.written_ms < before_ms
    tx.execute(lease_stamps.delete().where(older, lease_stamps.c.stamp.not_in(list(seen))))
