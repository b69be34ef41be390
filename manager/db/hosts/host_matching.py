"""Queries for the hosts that match a filter, over as few tables as it needs."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa

from manager.db.host_names import holds
from manager.db.tables import agents, assignments, hosts, units
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = ["OF_HOSTS", "SORTS", "STATES", "HostWanted", "Range", "matching"]

SORTS: Final[dict[str, Any]] = {
    "domain": hosts.c.reversed_key,
    "first_seen": hosts.c.id,  # they are numbered as they are found
    "volume": units.c.volume_kb,
    "pages": units.c.pages,
    "owner": sa.func.coalesce(agents.c.name, ""),
    "state": units.c.state,
}
STATES: Final = ("new", "idle", "probing", "placed", "excluded")
OF_HOSTS: Final = frozenset({"domain", "first_seen"})


Range = tuple[str, str]
"""Reversed keys from the first on, and before the second."""


@frozen
class HostWanted:
    """Filter of hosts: empty is any. reversed_prefix: of a domain, with all below it."""

    reversed_prefix: str = ""
    text: str = ""
    owner: str = ""
    state: str = ""

    @property
    def is_any(self) -> bool:
        """Return whether all hosts match."""
        return not (self.reversed_prefix or self.text or self.owner or self.state)

    @property
    def ranges(self) -> list[Range]:
        """Return where the reversed keys of a domain lie, in their order; none without a domain.

        Between them lie names that only begin like it.
        """
        if not self.reversed_prefix:
            return []
        # Its own key, then those of names below it, then its own with other ports.
        return [
            (self.reversed_prefix + first, self.reversed_prefix + chr(ord(first) + 1))
            for first in "),:"
        ]


def _lies_in(range_: Range) -> sa.ColumnElement[bool]:
    low, high = range_
    return sa.and_(hosts.c.reversed_key >= low, hosts.c.reversed_key < high)


def matching(
    tx: Transaction,
    wanted: HostWanted,
    sort: str,
    agent: int | None = None,
    among: list[int] | None = None,
    within: Range | None = None,
) -> sa.Select[Any]:
    """Return a query over no more tables than the filters and the sort need.

    agent: the number of `wanted.owner`, where it is known. among: the numbers of hosts. within:
    one of `wanted.ranges`, so that nothing but what matches is read from the index.
    """
    # Where the unit is asked about it leads; the host behind it is looked at only if need be.
    by_unit = bool(wanted.owner or wanted.state) or sort not in OF_HOSTS
    by_host = bool(wanted.reversed_prefix or wanted.text) or sort in OF_HOSTS
    number = hosts.c.id if by_host else units.c.host_id
    tables: Any = hosts if by_host else units
    if by_host and by_unit:
        tables = hosts.join(units, units.c.host_id == hosts.c.id)
    if wanted.owner or sort == "owner":
        owned = sa.and_(assignments.c.unit_id == units.c.id, assignments.c.until_ms.is_(None))
        tables = tables.join(assignments, owned, isouter=not wanted.owner)
    if sort == "owner":
        owner = agents.c.id == assignments.c.agent_id
        tables = tables.join(agents, owner, isouter=not wanted.owner)
    query = sa.select(number.label("number")).select_from(tables)
    if by_unit:
        query = query.where(units.c.path == "/")
    if among is not None:
        query = query.where(number.in_(among))
    if wanted.reversed_prefix:
        some = wanted.ranges if within is None else [within]
        query = query.where(sa.or_(*(_lies_in(one) for one in some)))
    if wanted.text:
        query = query.where(holds(tx, wanted.text))
    if wanted.owner:
        if agent is None:
            named = sa.select(agents.c.id).where(agents.c.name == wanted.owner)
            query = query.where(assignments.c.agent_id == named.scalar_subquery())
        else:
            query = query.where(assignments.c.agent_id == agent)
    if wanted.state:
        query = query.where(units.c.state == wanted.state)
    return query
