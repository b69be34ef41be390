"""Hosts that were withdrawn, in order, for agents that hold captures of them."""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.tables import holdings, hosts, rights, units, withdrawals
from manager.db.transaction import Transaction

__all__ = ["add", "of_agent"]


def add(tx: Transaction, host_id: int, now_ms: int) -> None:
    """Note that a host was withdrawn."""
    tx.insert(withdrawals, [{"host_id": host_id, "at_ms": now_ms}])


def of_agent(tx: Transaction, agent_id: int, after: int, limit: int) -> list[tuple[int, str]]:
    """Return (number, host key) of withdrawals behind a number, oldest first.

    Only hosts that are excluded still, and that the agent was ever given.
    """
    given = [
        sa.exists().where(
            units.c.host_id == hosts.c.id,
            table.c.unit_id == units.c.id,
            table.c.agent_id == agent_id,
        )
        for table in (holdings, rights)
    ]
    query = (
        sa.select(withdrawals.c.id, hosts.c.key)
        .join(hosts, hosts.c.id == withdrawals.c.host_id)
        .where(withdrawals.c.id > after, hosts.c.excluded_ms.is_not(None), sa.or_(*given))
        .order_by(withdrawals.c.id)
        .limit(limit)
    )
    return [(row.id, row.key) for row in tx.execute(query)]
