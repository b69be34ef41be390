"""Rights as others read them: the units of a list, and what an agent held when."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from manager.assignment.right_history import RightPeriod
from manager.db.tables import holdings, rights, units
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "ListedRow",
    "directories_of_others",
    "held_between",
    "listed",
]


@frozen
class ListedRow:
    """A unit of a list."""

    unit_id: int
    host_id: int
    key: str
    path: str
    max_transfer: int
    start_pages: int
    kind: str
    round: int
    continues: int | None


def listed(
    tx: Transaction,
    agent_id: int,
    generation: int,
    kind: str | None,
    after: tuple[int, int],
    limit: int,
) -> list[ListedRow]:
    """Return the next units of an agent's list, in the order of (max_transfer, unit_id).

    kind: only rights of that kind; None: all. after: the last pair that was read.
    """
    query = (
        sa.select(
            units.c.id.label("unit_id"),
            units.c.host_id,
            units.c.key,
            units.c.path,
            rights.c.max_transfer,
            units.c.start_pages,
            rights.c.kind,
            rights.c.round,
            rights.c.continues,
        )
        .join(units, units.c.id == rights.c.unit_id)
        .where(
            rights.c.agent_id == agent_id,
            rights.c.granted_generation <= generation,
            sa.or_(
                rights.c.withdrawn_generation.is_(None),
                rights.c.withdrawn_generation > generation,
            ),
            sa.tuple_(rights.c.max_transfer, rights.c.unit_id) > sa.tuple_(*map(sa.literal, after)),
        )
        .order_by(rights.c.max_transfer, rights.c.unit_id)
        .limit(limit)
    )
    if kind is not None:
        query = query.where(rights.c.kind == kind)
    return tx.rows(ListedRow, query)


def directories_of_others(
    tx: Transaction, agent_id: int, host_ids: Collection[int]
) -> list[tuple[int, str]]:
    """Return (host, path) of the directory units of some hosts that an agent has no right to."""
    mine = sa.exists().where(rights.c.unit_id == units.c.id, rights.c.agent_id == agent_id)
    query = (
        sa.select(units.c.host_id, units.c.path)
        .where(units.c.path != "/", units.c.merged_ms.is_(None), ~mine)
        .order_by(units.c.host_id, units.c.path)
    )
    return list(map(tuple, tx.among(query, units.c.host_id, host_ids)))


def held_between(tx: Transaction, agent_id: int, since_ms: int, until_ms: int) -> list[RightPeriod]:
    """Return the rights that an agent had at any moment between two; some it may still have."""
    past = (
        sa.select(
            units.c.key.label("unit"),
            holdings.c.kind,
            holdings.c.round,
            holdings.c.since_ms,
            holdings.c.until_ms,
        )
        .join(units, units.c.id == holdings.c.unit_id)
        .where(
            holdings.c.agent_id == agent_id,
            holdings.c.until_ms >= since_ms,
            holdings.c.since_ms <= until_ms,
        )
    )
    present = (
        sa.select(
            units.c.key.label("unit"),
            rights.c.kind,
            rights.c.round,
            rights.c.granted_ms.label("since_ms"),
            sa.cast(sa.null(), sa.BigInteger()).label("until_ms"),
        )
        .join(units, units.c.id == rights.c.unit_id)
        .where(rights.c.agent_id == agent_id, rights.c.granted_ms <= until_ms)
    )
    return tx.rows(RightPeriod, past) + tx.rows(RightPeriod, present)
