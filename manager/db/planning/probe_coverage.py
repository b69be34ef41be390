"""Coverage of probes by agent and age, and open orders, for the probe pages.

Invariant: no query returns more rows than there are agents, control hosts or pairs asked for. A
count of all distances reads an index from end to end, so the caller must cache it for a while.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from manager.db.tables import distances, probe_orders, units
from manager.db.transaction import Transaction
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
    c = probe_orders.c
    query = sa.select(c.unit_id, c.agent_id, c.round, c.state, c.reason).order_by(c.id)
    rows = tx.rows_among(OrderState, query, c.unit_id, unit_ids)
    return {(row.unit_id, row.agent_id): row for row in rows}


def ages_by_agent(tx: Transaction, limits_ms: Sequence[int]) -> list[AgentAges]:
    """Return how old the distances of each agent are. limits_ms: moments, the newest first."""
    agent = distances.c.agent_id
    younger = (
        sa.func.sum(sa.case((distances.c.measured_ms >= limit, 1), else_=0)) for limit in limits_ms
    )
    rows = tx.tuples(sa.select(agent, sa.func.count(), *younger).group_by(agent))
    unreachable = tx.counts(agent, distances.c.ms_per_kb.is_(None))
    return [
        AgentAges(number, held, unreachable.get(number, 0), tuple(map(int, ages)))
        for number, held, *ages in rows
    ]


def orders_by_agent(tx: Transaction, round_number: int) -> dict[tuple[int, str], int]:
    """Return how many orders of a round are in each state, by (agent, state)."""
    c = probe_orders.c
    query = sa.select(c.agent_id, c.state, sa.func.count()).where(c.round >= round_number)
    rows = tx.tuples(query.group_by(c.agent_id, c.state))
    return {(agent, state): count for agent, state, count in rows}


def probed_hosts(tx: Transaction) -> int:
    """Return how many hosts take part."""
    return tx.count(units, _TOP)


def fresh_hosts(tx: Transaction, since_ms: int) -> int:
    """Return how many participating hosts were measured since a moment."""
    seen = sa.exists().where(distances.c.unit_id == units.c.id, distances.c.measured_ms >= since_ms)
    return tx.count(units, _TOP, seen)


def fresh_by_agent_elsewhere(tx: Transaction, since_ms: int) -> dict[int, int]:
    """Return how many distances each agent measured since a moment to units that no longer take
    part: hosts that were excluded or do not resolve, and pieces of split ones. They are few."""
    elsewhere = distances.c.unit_id.in_(sa.select(units.c.id).where(~_TOP))
    return tx.counts(distances.c.agent_id, elsewhere, distances.c.measured_ms >= since_ms)


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
