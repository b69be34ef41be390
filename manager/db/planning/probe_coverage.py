"""Coverage of probes by agent and age, and open orders, for the probe pages.

Invariant: no query returns more rows than there are agents, control hosts or pairs asked for. A
count of all distances reads an index from end to end, so the caller must cache it for a while.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from manager.db.engine import Transaction, chunks
from manager.db.tables import distances, probe_orders, units
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "AgentAges",
    "ControlRow",
    "OrderState",
    "ages_by_agent",
    "control_hosts",
    "fresh_by_agent_elsewhere",
    "fresh_hosts",
    "newest_orders",
    "orders_by_agent",
    "probed_hosts",
]

PROBED = ("placed", "probing")


@frozen
class OrderState:
    """The newest order of a pair."""

    unit_id: int
    agent_id: int
    round: int
    state: str
    reason: Message | None


@frozen
class AgentAges:
    """Number of an agent's distances by age; `younger` counts those within each limit."""

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
    """Return how many participating hosts were measured since a moment."""
    seen = sa.exists().where(distances.c.unit_id == units.c.id, distances.c.measured_ms >= since_ms)
    return int(tx.value(sa.select(sa.func.count()).select_from(units).where(_TOP, seen)))


def fresh_by_agent_elsewhere(tx: Transaction, since_ms: int) -> dict[int, int]:
    """Return how many distances each agent measured since a moment to units that no longer take
    part: hosts that were excluded or do not resolve, and pieces of split ones. They are few."""
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
