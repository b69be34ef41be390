"""Address groups of units, and atoms: what must have one owner."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

from manager.db.tables import hosts, units
from manager.db.transaction import Transaction

__all__ = ["ATOM", "atoms_of_units", "groups_of_units"]

ATOM: Final = sa.case(
    (hosts.c.shared_interval_ms.is_not(None), -units.c.id), else_=hosts.c.group_id
)
"""See `atoms_of_units`; for queries over hosts and units."""


def atoms_of_units(tx: Transaction, unit_ids: Collection[int]) -> dict[int, int | None]:
    """Return what must have one owner, for each of some units.

    It is the unit's group (None: it has none yet); a piece of a split host is by itself, and is
    minus its own number.
    """
    query = sa.select(units.c.id, ATOM).join(hosts, hosts.c.id == units.c.host_id)
    return dict(tx.among(query, units.c.id, unit_ids))


def groups_of_units(tx: Transaction, unit_ids: Collection[int]) -> dict[int, int | None]:
    """Return the group of each of some units, None where it has none yet."""
    query = sa.select(units.c.id, hosts.c.group_id).join(hosts, hosts.c.id == units.c.host_id)
    return dict(tx.among(query, units.c.id, unit_ids))
