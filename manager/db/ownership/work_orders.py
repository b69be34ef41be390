"""Queries common to orders of probes and of refetches.

waiting -> granted -> finished -> done, or failed from any of the first three. A right that is
freed without the unit being finished puts its orders back to waiting (`rights`).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import sqlalchemy as sa

from manager.db.ownership.pins import not_banned
from manager.db.ownership.rights import no_other_agent
from manager.db.tables import agents, hosts
from manager.db.transaction import Transaction

__all__ = ["OPEN", "agents_waiting", "agents_with_open", "is_free_for", "set_granted"]

OPEN = ("waiting", "granted", "finished")


def is_free_for(agent_id: int, orders: sa.Table) -> sa.ColumnElement[bool]:
    """Return the condition that an order, joined with its host, can be given to its agent now."""
    return sa.and_(
        orders.c.agent_id == agent_id,
        orders.c.state == "waiting",
        no_other_agent(agent_id, orders.c.unit_id),
        not_banned(agent_id, hosts.c.id),
    )


def set_granted(
    tx: Transaction, orders: sa.Table, agent_id: int, unit_ids: Collection[int], now_ms: int
) -> None:
    """Note that an agent was given what waited for it of some units."""
    waiting = orders.c.agent_id == agent_id, orders.c.state == "waiting"
    granting = orders.update().where(*waiting).values(state="granted", granted_ms=now_ms)
    tx.changed_among(granting, orders.c.unit_id, unit_ids)


def agents_waiting(tx: Transaction, orders: sa.Table) -> list[int]:
    """Return the agents that have orders which they were not given yet."""
    return tx.values(_agents_with(orders, ("waiting",)))


def agents_with_open(tx: Transaction, orders: sa.Table) -> list[int]:
    """Return the agents that have orders to carry out."""
    return tx.values(_agents_with(orders, OPEN))


@cache
def _agents_with(orders: sa.Table, states: tuple[str, ...]) -> sa.Select[tuple[int]]:
    mine = sa.exists().where(orders.c.agent_id == agents.c.id, orders.c.state.in_(states))
    return sa.select(agents.c.id).where(mine)
