"""The block list and the limits that all agents are asked to keep to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa

from manager.db.tables import blocked_urls, fleet_limits
from manager.db.transaction import Transaction
from shared.frozen import frozen, values_of

__all__ = [
    "BlockedRow",
    "LimitsRow",
    "add_blocked",
    "blocked",
    "limits",
    "remove_blocked",
    "set_limits",
]


@frozen
class BlockedRow:
    """A line of the block list."""

    id: int
    pattern: str
    reason: str
    added_by: str
    added_ms: int


@frozen
class LimitsRow:
    """Limits that all agents are asked to keep to; None: no wish."""

    interval_s: float | None = None
    parallel_hosts: int | None = None
    bytes_per_s: int | None = None


_BLOCKED: Final = (
    sa.select(blocked_urls).where(blocked_urls.c.removed_ms.is_(None)).order_by(blocked_urls.c.id)
)
_LIMITS: Final = sa.select(fleet_limits)


def blocked(tx: Transaction) -> list[BlockedRow]:
    """Return the lines that hold, the oldest first."""
    return tx.rows(BlockedRow, _BLOCKED)


def add_blocked(
    tx: Transaction, patterns: Sequence[str], reason: str, added_by: str, now_ms: int
) -> None:
    """Add lines."""
    tx.insert(
        blocked_urls,
        [
            {"pattern": pattern, "reason": reason, "added_by": added_by, "added_ms": now_ms}
            for pattern in patterns
        ],
    )


def remove_blocked(tx: Transaction, number: int, removed_by: str, now_ms: int) -> BlockedRow | None:
    """Take a line out; return it, or None where it does not hold."""
    live = blocked_urls.c.id == number, blocked_urls.c.removed_ms.is_(None)
    row = tx.row(BlockedRow, sa.select(blocked_urls).where(*live))
    if row is not None:
        values = {"removed_by": removed_by, "removed_ms": now_ms}
        tx.execute(blocked_urls.update().where(*live).values(**values))
    return row


def limits(tx: Transaction) -> LimitsRow:
    """Return the limits; if none was ever set: no wish."""
    return tx.row(LimitsRow, _LIMITS) or LimitsRow()


def set_limits(tx: Transaction, row: LimitsRow) -> None:
    """Set all limits."""
    tx.upsert(fleet_limits, [{"id": 1, **values_of(row)}], ["id"])
