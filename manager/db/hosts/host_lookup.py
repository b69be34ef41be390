"""Numbers of hosts by their name or address, a few at a time, each from an index.

A part of a name is looked for in `host_names`.
"""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.tables import host_addresses, hosts
from manager.db.transaction import Transaction

__all__ = ["at_address", "below", "named"]


def named(tx: Transaction, reversed_name: str, limit: int) -> list[int]:
    """Return hosts of exactly this name (`jp,example`), with any scheme and port."""
    return _within(tx, reversed_name, ")", limit) + _within(tx, reversed_name, ":", limit)


def below(tx: Transaction, reversed_name: str, limit: int) -> list[int]:
    """Return hosts whose name lies below a domain."""
    return _within(tx, reversed_name, ",", limit)


def at_address(tx: Transaction, address: str, limit: int) -> list[int]:
    """Return hosts whose name was looked up as an IP address, by the manager or an agent."""
    query = sa.select(host_addresses.c.host_id).where(host_addresses.c.address == address)
    return tx.values(query.distinct().order_by(host_addresses.c.host_id).limit(limit))


def _within(tx: Transaction, reversed_name: str, sign: str, limit: int) -> list[int]:
    low, high = reversed_name + sign, reversed_name + chr(ord(sign) + 1)
    query = sa.select(hosts.c.id).where(hosts.c.reversed_key >= low, hosts.c.reversed_key < high)
    return tx.values(query.order_by(hosts.c.reversed_key, hosts.c.id).limit(limit))
