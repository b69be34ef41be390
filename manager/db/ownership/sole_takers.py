"""Groups of hosts that one agent alone may have: pinned to it, or banned for all others.

No distance could change who crawls them, so a round orders no probes of them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from manager.db.ownership.pins import any_pin_or_ban
from manager.db.tables import bans, hosts, pins, units
from manager.db.transaction import Transaction

__all__ = ["groups_of_sole_takers", "units_of_sole_takers"]


def groups_of_sole_takers(agent_ids: Collection[int]) -> sa.CompoundSelect[Any]:
    """Return the query for groups that at most one of some agents may have.

    A pin to an agent that is banned from a host of the group does not count, nor does one of a
    piece: the other pieces of its host may go to others.
    """
    others = len(agent_ids) - 1
    banned = (
        sa.select(hosts.c.group_id)
        .join(bans, bans.c.host_id == hosts.c.id)
        .where(hosts.c.group_id.is_not(None), bans.c.agent_id.in_(agent_ids))
        .group_by(hosts.c.group_id)
        .having(sa.func.count(bans.c.agent_id.distinct()) >= others)
    )
    beside = hosts.alias("beside")
    forbidden = sa.exists().where(
        beside.c.group_id == hosts.c.group_id,
        bans.c.host_id == beside.c.id,
        bans.c.agent_id == pins.c.agent_id,
    )
    pinned = (
        sa.select(hosts.c.group_id)
        .join(units, units.c.host_id == hosts.c.id)
        .join(pins, pins.c.unit_id == units.c.id)
        .where(
            hosts.c.group_id.is_not(None),
            pins.c.agent_id.in_(agent_ids),
            units.c.path == "/",
            ~sa.exists().where(_is_piece_of_host()),
            ~forbidden,
        )
    )
    return sa.union(banned, pinned)


def _is_piece_of_host() -> sa.ColumnElement[bool]:
    piece = units.alias("piece")
    return sa.and_(piece.c.host_id == hosts.c.id, piece.c.path != "/", piece.c.merged_ms.is_(None))


def units_of_sole_takers(
    tx: Transaction, unit_ids: Collection[int], agent_ids: Collection[int]
) -> set[int]:
    """Return those of some units that at most one of some agents may have."""
    if not any_pin_or_ban(tx):
        return set()
    query = (
        sa.select(units.c.id)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(hosts.c.group_id.in_(groups_of_sole_takers(agent_ids)))
    )
    return {unit for (unit,) in tx.among(query, units.c.id, unit_ids)}
