"""Exported rows: distances, volumes, costs and owners.

Invariant: rows come from the database as they are read, whatever their number; a reader that is
not consumed to its end must be dropped before its transaction ends. Rows are in the order of the
units' keys, by bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import assignments, distances, units
from manager.db.transaction import Transaction

__all__ = ["costs_of", "distances_of", "owned_keys", "owner_totals", "volumes"]

ROWS_AT_ONCE: Final = 2_000

_COST: Final = units.c.volume_kb * distances.c.ms_per_kb
_PRESENT: Final = units.c.merged_ms.is_(None)  # no directory that is a part of `/` again
_OPEN: Final = assignments.c.until_ms.is_(None)


def distances_of(tx: Transaction, agent_id: int) -> Iterator[tuple[str, float | None]]:
    """Yield (unit key, ms per KByte) of the units an agent measured; None: unreachable."""
    query = sa.select(units.c.key, distances.c.ms_per_kb)
    measured = query.join(units, units.c.id == distances.c.unit_id)
    return _streamed(tx, measured.where(distances.c.agent_id == agent_id, _PRESENT))


def volumes(tx: Transaction) -> Iterator[tuple[str, float]]:
    """Yield (unit key, KBytes) of the crawled units."""
    query = sa.select(units.c.key, units.c.volume_kb)
    return _streamed(tx, query.where(units.c.volume_kb.is_not(None), _PRESENT))


def costs_of(tx: Transaction, agent_id: int) -> Iterator[tuple[str, float | None]]:
    """Yield (unit key, ms) of crawled units: their cost for an agent that measured them.

    None: unreachable.
    """
    query = sa.select(units.c.key, _COST).join(units, units.c.id == distances.c.unit_id)
    crawled = units.c.volume_kb.is_not(None)
    return _streamed(tx, query.where(distances.c.agent_id == agent_id, crawled, _PRESENT))


def owned_keys(tx: Transaction, agent_id: int) -> Iterator[str]:
    """Yield the keys of the units that an agent owns."""
    query = sa.select(units.c.key).join(assignments, assignments.c.unit_id == units.c.id)
    for (key,) in _streamed(tx, query.where(assignments.c.agent_id == agent_id, _OPEN)):
        yield key


def owner_totals(tx: Transaction) -> dict[int, tuple[float, int]]:
    """Return (ms, units) of each agent that owns something; a unit without a cost counts as 0."""
    cost = sa.func.sum(sa.func.coalesce(_COST, 0.0)).label("cost")
    query = (
        sa.select(assignments.c.agent_id, cost, sa.func.count().label("units"))
        .select_from(assignments)
        .join(units, units.c.id == assignments.c.unit_id)
        .outerjoin(
            distances,
            sa.and_(
                distances.c.unit_id == assignments.c.unit_id,
                distances.c.agent_id == assignments.c.agent_id,
            ),
        )
        .where(_OPEN)
        .group_by(assignments.c.agent_id)
    )
    return {row.agent_id: (float(row.cost), int(row.units)) for row in tx.execute(query)}


def _streamed(tx: Transaction, query: sa.Select[Any]) -> Iterator[Any]:
    """Yield the rows of a query by the unit's key, each as a tuple."""
    # One order on either database; a collation of a language would sort otherwise.
    order = sa.collate(units.c.key, "C") if tx.dialect == "postgresql" else units.c.key
    found = tx.execute(query.order_by(order).execution_options(yield_per=ROWS_AT_ONCE))
    yield from map(tuple, found)
