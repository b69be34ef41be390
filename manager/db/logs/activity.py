"""Hourly sums of all logs: one row an hour, added to as logs come."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from manager.db.tables import activity
from manager.db.transaction import Transaction
from shared.frozen import frozen, values_of

__all__ = ["HourRow", "add", "forget", "since"]


@frozen
class HourRow:
    """Pages and bytes of the hour that begins at a moment."""

    hour_ms: int
    requests: int
    pages: int
    errors: int
    bytes: int


def add(tx: Transaction, rows: Sequence[HourRow]) -> None:
    """Add to what is known of some hours, each of which is named once."""
    sums = ("requests", "pages", "errors", "bytes")
    tx.upsert(activity, [values_of(row) for row in rows], ["hour_ms"], add=sums)


def since(tx: Transaction, since_ms: int) -> list[HourRow]:
    """Return the hours that are known from a moment on, oldest first."""
    query = sa.select(activity).where(activity.c.hour_ms >= since_ms)
    return tx.rows(HourRow, query.order_by(activity.c.hour_ms))


def forget(tx: Transaction, before_ms: int) -> None:
    """Forget the hours before a moment."""
    tx.execute(activity.delete().where(activity.c.hour_ms < before_ms))
