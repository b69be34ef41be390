"""Changes since a plan was made, and the moves of owners since then.

Invariant: what is counted is counted among the newest rows only, up to a bound, so that it costs
the same however many hosts there are.
"""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.tables import assignments, hosts, plan_moves, plans
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = ["COUNTED_MOST", "FlowRow", "applied_since", "flows", "hosts_since", "owners_since"]

COUNTED_MOST = 10_000


@frozen
class FlowRow:
    """Units that one agent gives to another in a plan, and their cost for each of the two."""

    from_agent: int
    to_agent: int
    units: int
    from_ms: float
    to_ms: float


def hosts_since(tx: Transaction, since_ms: int) -> int:
    """Return how many hosts became known after a moment; counted up to `COUNTED_MOST`."""
    query = sa.select(hosts.c.first_seen_ms, hosts.c.excluded_ms)
    newest = query.order_by(hosts.c.id.desc()).limit(COUNTED_MOST).subquery()
    return tx.count(newest, newest.c.first_seen_ms > since_ms, newest.c.excluded_ms.is_(None))


def owners_since(tx: Transaction, since_ms: int) -> int:
    """Return how many units got an owner after a moment; counted up to `COUNTED_MOST`."""
    query = sa.select(assignments.c.unit_id, assignments.c.since_ms)
    newest = query.order_by(assignments.c.id.desc()).limit(COUNTED_MOST).subquery()
    late = sa.select(newest.c.unit_id).where(newest.c.since_ms > since_ms).distinct()
    return tx.count(late.subquery())


def applied_since(tx: Transaction, since_ms: int, without: int) -> list[int]:
    """Return the plans that were applied at a moment or after it, but one, oldest first."""
    return tx.values(
        sa.select(plans.c.id)
        .where(plans.c.applied_ms >= since_ms, plans.c.id != without)
        .order_by(plans.c.applied_ms, plans.c.id)
    )


def flows(tx: Transaction, plan_id: int) -> list[FlowRow]:
    """Return what a plan moves between each two agents, the most first."""
    moved = sa.func.sum(sa.func.coalesce(plan_moves.c.from_ms, 0.0)).label("from_ms")
    return tx.rows(
        FlowRow,
        sa.select(
            plan_moves.c.from_agent,
            plan_moves.c.to_agent,
            sa.func.count().label("units"),
            moved,
            sa.func.sum(sa.func.coalesce(plan_moves.c.to_ms, 0.0)).label("to_ms"),
        )
        .where(plan_moves.c.plan_id == plan_id, plan_moves.c.from_agent.is_not(None))
        .group_by(plan_moves.c.from_agent, plan_moves.c.to_agent)
        .order_by(moved.desc(), plan_moves.c.from_agent, plan_moves.c.to_agent),
    )
