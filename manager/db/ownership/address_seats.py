"""Condition that an agent may be given rights of a host, as far as the host's addresses go.

The rules of addresses and the seats of agents there are in `manager.db.hosts.address_rules`.
"""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.tables import address_rules, address_seats, agents, host_addresses, hosts

__all__ = ["may_enter"]


def may_enter(agent_id: int) -> sa.ColumnElement[bool]:
    """Return the condition that an agent may be given a host, as far as its addresses go.

    For queries over `hosts`.
    """
    seated = sa.exists().where(
        address_seats.c.address == address_rules.c.address, address_seats.c.agent_id == agent_id
    )
    held = sa.select(agents.c.shared_held).where(agents.c.id == agent_id).scalar_subquery()
    closed = sa.or_(
        sa.and_(address_rules.c.rule.in_(("shared", "merging")), sa.not_(seated)),
        sa.and_(address_rules.c.rule == "single", address_rules.c.number > held),
    )
    return ~sa.exists().where(
        host_addresses.c.host_id == hosts.c.id,
        address_rules.c.address == host_addresses.c.address,
        closed,
    )
