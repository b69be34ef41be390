"""Units that more agents probe than others: control hosts, to compare agents, and the largest."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from manager.db.engine import Transaction, chunks
from manager.db.tables import distances, units

__all__ = ["all_controls", "choose", "drop", "largest"]


def all_controls(tx: Transaction) -> list[int]:
    """Return the control hosts that take part, by number."""
    return tx.values(
        sa.select(units.c.id)
        .where(units.c.control_ms.is_not(None), units.c.state.in_(("placed", "probing")))
        .order_by(units.c.id)
    )


def choose(tx: Transaction, count: int, probe_pages: int, now_ms: int) -> None:
    """Make so many more hosts control hosts: those that most agents measured in full.

    Of hosts that equally many did, any: mixed by number, the same each time.
    """
    in_full = sa.func.count(sa.case((distances.c.lines >= probe_pages, distances.c.agent_id)))
    known = sa.and_(distances.c.unit_id == units.c.id, distances.c.ms_per_kb.is_not(None))
    chosen = tx.values(
        sa.select(units.c.id)
        .outerjoin(distances, known)
        .where(
            units.c.state.in_(("placed", "probing")),
            units.c.path == "/",
            units.c.control_ms.is_(None),
        )
        .group_by(units.c.id)
        .order_by(
            in_full.desc(), sa.func.count(distances.c.agent_id).desc(),
            units.c.id * 2_654_435_761 % 1_000_003, units.c.id,
        )
        .limit(count)
    )  # fmt: skip
    tx.execute(units.update().where(units.c.id.in_(chosen)).values(control_ms=now_ms))


def drop(tx: Transaction, unit_ids: Collection[int]) -> dict[int, str]:
    """Remove control hosts; return their keys."""
    keys: dict[int, str] = {}
    for part in chunks(unit_ids):
        rows = tx.execute(sa.select(units.c.id, units.c.key).where(units.c.id.in_(part)))
        keys.update({row.id: row.key for row in rows})
        tx.execute(units.update().where(units.c.id.in_(part)).values(control_ms=None))
    return keys


def largest(tx: Transaction, count: int) -> frozenset[int]:
    """Return so many units that take part, those whose volume is largest."""
    return frozenset(
        tx.values(
            sa.select(units.c.id)
            .where(
                units.c.state.in_(("placed", "probing")),
                units.c.path == "/",
                units.c.volume_kb.is_not(None),
            )
            .order_by(units.c.volume_kb.desc(), units.c.id)
            .limit(count)
        )
    )
