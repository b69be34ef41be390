"""Hosts as people list and search them, of millions of which few match or a page is shown.

What is filtered is looked for first, up to `COUNTED_MOST`: where that was all, it is put in order
here. Otherwise so many match that a walk in the order of the sort soon comes upon a page of them;
`ix_units_volume` and the like are that order. Numbers are walked over before anything is joined, so
that a far page costs little more than the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from manager.db.engine import Transaction
from manager.db.tables import agents, assignments, hosts, units

__all__ = ["COUNTED_MOST", "SORTS", "HostLine", "HostWanted", "count_by_state", "page"]

COUNTED_MOST: Final = 10_000
"""How many that match are counted."""

SORTS: Final[dict[str, Any]] = {
    "domain": hosts.c.reversed_key,
    "first_seen": hosts.c.id,  # they are numbered as they are found
    "volume": units.c.volume_kb,
    "pages": units.c.pages,
    "owner": sa.func.coalesce(agents.c.name, ""),
    "state": units.c.state,
}
_MAY_BE_UNKNOWN: Final = frozenset({"volume", "pages"})
"""Sorts by what is not known of every host; unknown is less than anything."""

_OF_HOSTS: Final = frozenset({"domain", "first_seen"})


@dataclass(frozen=True, slots=True)
class HostWanted:
    """Which hosts: empty is any. reversed_prefix: of a domain, with all below it."""

    reversed_prefix: str = ""
    text: str = ""
    owner: str = ""
    state: str = ""

    @property
    def is_any(self) -> bool:
        """Tell whether all hosts match."""
        return not (self.reversed_prefix or self.text or self.owner or self.state)


@dataclass(frozen=True, slots=True)
class HostLine:
    """A host as the table shows it, with the owner and size of its unit `/`."""

    id: int
    key: str
    state: str
    owner: str | None
    volume_kb: float | None
    pages: int | None
    first_seen_ms: int
    resolution: str
    resolve_problem: str
    excluded_reason: str
    group_id: int | None


def page(
    tx: Transaction, wanted: HostWanted, sort: str, *, descending: bool, limit: int, offset: int
) -> tuple[int, list[HostLine]]:
    """Return how many hosts match, counted up to `COUNTED_MOST`, and a page of them."""
    if wanted.is_any:
        some = sa.select(hosts.c.id).limit(COUNTED_MOST).subquery()
        matching = int(tx.value(sa.select(sa.func.count()).select_from(some)))
        return matching, _lines(tx, _walk(tx, wanted, sort, descending, limit, offset))
    found = tx.execute(
        _matching(wanted, sort)
        .with_only_columns(hosts.c.id, SORTS[sort].label("place"))
        .limit(COUNTED_MOST)
    ).all()
    if len(found) == COUNTED_MOST:
        return COUNTED_MOST, _lines(tx, _walk(tx, wanted, sort, descending, limit, offset))
    in_order = sorted(
        ((row.place is not None, row.place, row.id) for row in found), reverse=descending
    )
    return len(found), _lines(tx, [number for _, _, number in in_order[offset : offset + limit]])


def count_by_state(tx: Transaction) -> dict[str, int]:
    """Return how many hosts are in each state, that of their unit `/`."""
    rows = tx.execute(
        sa.select(units.c.state, sa.func.count().label("number"))
        .where(units.c.path == "/")
        .group_by(units.c.state)
    )
    return {row.state: int(row.number) for row in rows}


def _walk(
    tx: Transaction, wanted: HostWanted, sort: str, descending: bool, limit: int, offset: int
) -> list[int]:
    """Return the numbers of a page of hosts, found in the order of the sort."""
    key = SORTS[sort]
    # Equal ones are in the order of the table that the sort is of, as they lie in its index.
    equal = hosts.c.id if sort in _OF_HOSTS else units.c.id
    order = [key, equal] if key is not equal else [equal]
    query = (
        _matching(wanted, sort)
        .with_only_columns(hosts.c.id)
        .order_by(*(column.desc() if descending else column for column in order))
    )
    if sort not in _MAY_BE_UNKNOWN:
        return tx.values(query.limit(limit).offset(offset))
    # The databases do not agree on where what is unknown goes.
    parts = [query.where(key.is_(None)), query.where(key.is_not(None))]
    found: list[int] = []
    for part in reversed(parts) if descending else parts:
        got = tx.values(part.limit(limit - len(found)).offset(offset))
        found += got
        if len(found) == limit:
            break
        if got or not offset:
            offset = 0
        else:
            all_of_it = part.order_by(None).subquery()
            offset -= int(tx.value(sa.select(sa.func.count()).select_from(all_of_it)))
    return found


def _lines(tx: Transaction, host_ids: list[int]) -> list[HostLine]:
    """Return what is shown of some hosts, in their order."""
    owned = sa.and_(assignments.c.unit_id == units.c.id, assignments.c.until_ms.is_(None))
    rows = tx.rows(
        HostLine,
        sa.select(
            hosts.c.id,
            hosts.c.key,
            units.c.state,
            agents.c.name.label("owner"),
            units.c.volume_kb,
            units.c.pages,
            hosts.c.first_seen_ms,
            hosts.c.resolution,
            hosts.c.resolve_problem,
            hosts.c.excluded_reason,
            hosts.c.group_id,
        )
        .select_from(
            hosts.join(units, sa.and_(units.c.host_id == hosts.c.id, units.c.path == "/"))
            .outerjoin(assignments, owned)
            .outerjoin(agents, agents.c.id == assignments.c.agent_id)
        )
        .where(hosts.c.id.in_(host_ids)),
    )
    place = {number: at for at, number in enumerate(host_ids)}
    return sorted(rows, key=lambda row: place[row.id])


def _matching(wanted: HostWanted, sort: str) -> sa.Select[Any]:
    """Return a query over no more tables than the filters and the sort need."""
    tables: Any = hosts
    if wanted.owner or wanted.state or sort not in _OF_HOSTS:
        tables = hosts.join(units, sa.and_(units.c.host_id == hosts.c.id, units.c.path == "/"))
    if wanted.owner or sort == "owner":
        owned = sa.and_(assignments.c.unit_id == units.c.id, assignments.c.until_ms.is_(None))
        tables = tables.join(assignments, owned, isouter=not wanted.owner).join(
            agents, agents.c.id == assignments.c.agent_id, isouter=not wanted.owner
        )
    query = sa.select(hosts.c.id).select_from(tables)
    prefix = wanted.reversed_prefix
    if prefix:
        # A range, which an index on either database can use; in it, the domain and names below.
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        query = query.where(
            hosts.c.reversed_key >= prefix,
            hosts.c.reversed_key < end,
            sa.or_(
                *(
                    hosts.c.reversed_key.startswith(prefix + after, autoescape=True)
                    for after in ("),:")
                )
            ),
        )
    if wanted.text:
        query = query.where(hosts.c.key.contains(wanted.text, autoescape=True))
    if wanted.owner:
        mine = sa.select(agents.c.id).where(agents.c.name == wanted.owner).scalar_subquery()
        query = query.where(assignments.c.agent_id == mine)
    if wanted.state:
        query = query.where(units.c.state == wanted.state)
    return query
