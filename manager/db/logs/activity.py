"""Hourly sums of all logs: one row an hour, added to as logs come."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from manager.db.engine import Transaction
from manager.db.tables import activity
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
    if not rows:
        return
    tx.insert_new(
        activity,
        [values_of(HourRow(row.hour_ms, 0, 0, 0, 0)) for row in rows],
    )
    tx.execute(
        activity.update()
        .where(activity.c.hour_ms == sa.bindparam("hour"))
        .values(
            {
                name: activity.c[name] + sa.bindparam(f"more_{name}")
                for name in ("requests", "pages", "errors", "bytes")
            }
        ),
        [
            {
                "hour": row.hour_ms,
                "more_requests": row.requests,
                "more_pages": row.pages,
                "more_errors": row.errors,
                "more_bytes": row.bytes,
            }
            for row in rows
        ],
    )


def since(tx: Transaction, since_ms: int) -> list[HourRow]:
    """Return the hours that are known from a moment on, oldest first."""
    return tx.rows(
        HourRow,
        sa.select(activity).where(activity.c.hour_ms >= since_ms).order_by(activity.c.hour_ms),
    )


def forget(tx: Transaction, before_ms: int) -> None:
    """Forget the hours before a moment."""
    tx.execute(activity.delete().where(activity.c.hour_ms < before_ms))
