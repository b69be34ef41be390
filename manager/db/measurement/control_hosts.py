"""Units that more agents probe than others: control hosts, to compare agents, and the largest."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

from manager.db.tables import distances, units
from manager.db.transaction import Transaction

__all__ = ["all_controls", "choose", "drop", "largest"]


_TAKES_PART: Final = units.c.state.in_(("placed", "probing"))


def all_controls(tx: Transaction) -> list[int]:
    """Return the control hosts that take part, by number."""
    query = sa.select(units.c.id).where(units.c.control_ms.is_not(None), _TAKES_PART)
    return tx.values(query.order_by(units.c.id))


def choose(tx: Transaction, count: int, probe_pages: int, now_ms: int) -> None:
    """Make so many more hosts control hosts: those that most agents measured in full.

    Of hosts that equally many did, any: mixed by number, the same each time.
    """
    in_full = sa.func.count(sa.case((distances.c.lines >= probe_pages, distances.c.agent_id)))
    known = sa.and_(distances.c.unit_id == units.c.id, distances.c.ms_per_kb.is_not(None))
    chosen = tx.values(
        sa.select(units.c.id)
        .outerjoin(distances, known)
        .where(_TAKES_PART, units.c.path == "/", units.c.control_ms.is_(None))
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
    keys = dict(tx.among(sa.select(units.c.id, units.c.key), units.c.id, unit_ids))
    tx.changed_among(units.update().values(control_ms=None), units.c.id, unit_ids)
    return keys


def largest(tx: Transaction, count: int) -> frozenset[int]:
    """Return so many units that take part, those whose volume is largest."""
    query = sa.select(units.c.id).where(
        _TAKES_PART, units.c.path == "/", units.c.volume_kb.is_not(None)
    )
    by_size = query.order_by(units.c.volume_kb.desc(), units.c.id)
    return frozenset(tx.values(by_size.limit(count)))
