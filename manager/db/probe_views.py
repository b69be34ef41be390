"""Distances as the console's probe pages read them: by agent and age, a page at a time.

Invariant: no query returns more rows than a page holds or there are agents. What counts all
distances reads an index from end to end, and is to be kept for a while by who asks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from manager.db.engine import Transaction, chunks
from manager.db.tables import agents, distances, probe_orders, units
from shared.frozen import frozen

__all__ = [
    "AgentAges",
    "ControlRow",
    "OrderState",
    "PairRow",
    "ages_by_agent",
    "control_hosts",
    "fresh_by_agent_elsewhere",
    "fresh_hosts",
    "newest_orders",
    "orders_by_agent",
    "pairs_page",
    "probed_hosts",
]

PROBED = ("placed", "probing")


@frozen
class PairRow:
    """What one agent measured of one host."""

    unit_id: int
    host: str
    agent: str
    ms_per_kb: float | None
    measured_ms: int
    round: int
    kind: str
    lines: int
    failed: int
    unreachable_since_ms: int | None


@frozen
class OrderState:
    """The newest order of a pair."""

    unit_id: int
    agent_id: int
    round: int
    state: str
    reason: str


@frozen
class AgentAges:
    """How many distances of an agent are so old, `younger` counting those within each limit."""

    agent_id: int
    distances: int
    unreachable: int
    younger: tuple[int, ...]


@frozen
class ControlRow:
    """A host that all agents probe, how many of them measured it, and since when it is one."""

    host: str
    control_ms: int
    agents: int


_TOP = sa.and_(units.c.path == "/", units.c.state.in_(PROBED))


def pairs_page(
    tx: Transaction,
    *,
    agent_id: int | None,
    unit_ids: Collection[int] | None,
    before_ms: int | None,
    reached: bool | None,
    sort: str,
    limit: int,
    offset: int,
) -> list[PairRow]:
    """Return a page of what was measured. sort: age (the oldest first), -age, distance, -distance.

    unit_ids: only of these. reached: only what could be fetched, or could not.
    """
    query = sa.select(
        distances.c.unit_id,
        distances.c.agent_id,
        distances.c.ms_per_kb,
        distances.c.measured_ms,
        distances.c.round,
        distances.c.kind,
        distances.c.lines,
        distances.c.failed,
        distances.c.unreachable_since_ms,
    )
    if agent_id is not None:
        query = query.where(distances.c.agent_id == agent_id)
    if unit_ids is not None:
        query = query.where(distances.c.unit_id.in_(unit_ids))
    if before_ms is not None:
        query = query.where(distances.c.measured_ms < before_ms)
    if reached is not None:
        unknown = distances.c.ms_per_kb.is_(None)
        query = query.where(~unknown if reached else unknown)
    column = distances.c.measured_ms if sort.endswith("age") else distances.c.ms_per_kb
    if sort.endswith("distance"):
        query = query.where(distances.c.ms_per_kb.is_not(None))
    order = column.desc() if sort.startswith("-") else column
    found: Sequence[Any] = tx.execute(query.order_by(order).limit(limit).offset(offset)).all()
    # Only of a page: of the pairs before it nobody needs the names.
    hosts = _texts(tx, units.c.key, {row.unit_id for row in found})
    names = _texts(tx, agents.c.name, {row.agent_id for row in found})
    return [PairRow(row[0], hosts[row.unit_id], names[row.agent_id], *row[2:]) for row in found]


def _texts(tx: Transaction, column: sa.Column[Any], ids: Collection[int]) -> dict[int, str]:
    """Return a column of some rows of its table by their numbers."""
    texts: dict[int, str] = {}
    key = column.table.c.id
    for part in chunks(ids):
        rows = tx.execute(sa.select(key, column.label("text")).where(key.in_(part)))
        texts.update({row.id: row.text for row in rows})
    return texts


def newest_orders(tx: Transaction, unit_ids: Sequence[int]) -> dict[tuple[int, int], OrderState]:
    """Return the newest order of each pair of some units, by (unit, agent)."""
    found: dict[tuple[int, int], OrderState] = {}
    for part in chunks(unit_ids):
        rows = tx.rows(
            OrderState,
            sa.select(
                probe_orders.c.unit_id,
                probe_orders.c.agent_id,
                probe_orders.c.round,
                probe_orders.c.state,
                probe_orders.c.reason,
            )
            .where(probe_orders.c.unit_id.in_(part))
            .order_by(probe_orders.c.id),
        )
        found.update({(row.unit_id, row.agent_id): row for row in rows})
    return found


def ages_by_agent(tx: Transaction, limits_ms: Sequence[int]) -> list[AgentAges]:
    """Return how old the distances of each agent are. limits_ms: moments, the newest first."""
    rows = tx.execute(
        sa.select(
            distances.c.agent_id,
            sa.func.count().label("held"),
            *[
                sa.func.sum(sa.case((distances.c.measured_ms >= limit, 1), else_=0)).label(f"n{at}")
                for at, limit in enumerate(limits_ms)
            ],
        ).group_by(distances.c.agent_id)
    )
    silent = tx.execute(
        sa.select(distances.c.agent_id, sa.func.count().label("held"))
        .where(distances.c.ms_per_kb.is_(None))
        .group_by(distances.c.agent_id)
    )
    unreachable = {row.agent_id: row.held for row in silent}
    return [
        AgentAges(
            row.agent_id,
            row.held,
            unreachable.get(row.agent_id, 0),
            tuple(int(getattr(row, f"n{at}")) for at in range(len(limits_ms))),
        )
        for row in rows
    ]


def orders_by_agent(tx: Transaction, round_number: int) -> dict[tuple[int, str], int]:
    """Return how many orders of a round are in each state, by (agent, state)."""
    rows = tx.execute(
        sa.select(probe_orders.c.agent_id, probe_orders.c.state, sa.func.count().label("orders"))
        .where(probe_orders.c.round >= round_number)
        .group_by(probe_orders.c.agent_id, probe_orders.c.state)
    )
    return {(row.agent_id, row.state): row.orders for row in rows}


def probed_hosts(tx: Transaction) -> int:
    """Return how many hosts take part."""
    return int(tx.value(sa.select(sa.func.count()).select_from(units).where(_TOP)))


def fresh_hosts(tx: Transaction, since_ms: int) -> int:
    """Return how many hosts that take part somebody has measured since a moment."""
    seen = sa.exists().where(distances.c.unit_id == units.c.id, distances.c.measured_ms >= since_ms)
    return int(tx.value(sa.select(sa.func.count()).select_from(units).where(_TOP, seen)))


def fresh_by_agent_elsewhere(tx: Transaction, since_ms: int) -> dict[int, int]:
    """Return how many distances each agent measured since a moment of what takes no part any more:
    hosts that were excluded or do not resolve, and pieces of split ones. They are few."""
    elsewhere = sa.select(units.c.id).where(~_TOP)
    rows = tx.execute(
        sa.select(distances.c.agent_id, sa.func.count().label("held"))
        .where(distances.c.unit_id.in_(elsewhere), distances.c.measured_ms >= since_ms)
        .group_by(distances.c.agent_id)
    )
    return {row.agent_id: row.held for row in rows}


def control_hosts(tx: Transaction) -> list[ControlRow]:
    """Return the control hosts, by name."""
    return tx.rows(
        ControlRow,
        sa.select(
            units.c.key.label("host"),
            units.c.control_ms,
            sa.func.count(distances.c.agent_id).label("agents"),
        )
        .outerjoin(distances, distances.c.unit_id == units.c.id)
        .where(units.c.control_ms.is_not(None))
        .group_by(units.c.id, units.c.key, units.c.control_ms)
        .order_by(units.c.key),
    )
