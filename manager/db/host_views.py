"""Hosts as people list and search them, of millions of which few match or a page is shown.

What is filtered is looked for first, up to `COUNTED_MOST`: where that was all, it is put in order
here. Otherwise so many match that a walk in the order of the sort soon comes upon a page of them.
It goes through parts, each in the order of an index that holds all that is asked, as
`ix_units_volume`: nothing is sorted, nothing joined that is passed by, so that a far page costs
little more than the first.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import sqlalchemy as sa

from manager.db.assignments import owners_of
from manager.db.engine import Transaction, chunks
from manager.db.host_names import HostNames, holds
from manager.db.tables import agents, assignments, hosts, units

__all__ = [
    "COUNTED_MOST",
    "SORTS",
    "STATES",
    "HostLine",
    "HostWanted",
    "count_by_state",
    "lines",
    "numbers",
    "page",
]

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
STATES: Final = ("new", "idle", "probing", "placed", "excluded")
_MAY_BE_UNKNOWN: Final = frozenset({"volume", "pages"})
"""Sorts by what is not known of every host; unknown is less than anything."""

_Part = tuple[Callable[[], sa.Select[Any]], int | None]
"""How to find some of the hosts, in order, and how many these are; None: that is not known."""

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
    tx: Transaction,
    names: HostNames,
    wanted: HostWanted,
    sort: str,
    *,
    descending: bool,
    limit: int,
    offset: int,
) -> tuple[int, list[HostLine]]:
    """Return how many hosts match, counted up to `COUNTED_MOST`, and a page of them."""
    if wanted.is_any:
        some = sa.select(hosts.c.id).limit(COUNTED_MOST).subquery()
        matching = int(tx.value(sa.select(sa.func.count()).select_from(some)))
        return matching, lines(tx, _walk(tx, wanted, sort, descending, limit, offset))
    found = _found(tx, names, wanted, sort, descending)
    if found is None:
        return COUNTED_MOST, lines(tx, _walk(tx, wanted, sort, descending, limit, offset))
    return len(found), lines(tx, found[offset : offset + limit])


def numbers(
    tx: Transaction, names: HostNames, wanted: HostWanted, sort: str, *, descending: bool
) -> array[int]:
    """Return the numbers of all hosts that match, in order: eight bytes each."""
    found = None if wanted.is_any else _found(tx, names, wanted, sort, descending)
    if found is not None:
        return array("q", found)
    numbered = array("q")
    for made, _ in _parts(tx, wanted, sort, descending):
        numbered.extend(tx.execute(made().execution_options(yield_per=10_000)).scalars())
    return numbered


def count_by_state(tx: Transaction) -> dict[str, int]:
    """Return how many hosts are in each state, that of their unit `/`."""
    rows = tx.execute(
        sa.select(units.c.state, sa.func.count().label("number"))
        .where(units.c.path == "/")
        .group_by(units.c.state)
    )
    return {row.state: int(row.number) for row in rows}


def _found(
    tx: Transaction, names: HostNames, wanted: HostWanted, sort: str, descending: bool
) -> list[int] | None:
    """Return the hosts that match, in order; None where they are too many to be put in order."""
    place = SORTS[sort].label("place")
    queries = [_matching(tx, wanted, sort).limit(COUNTED_MOST)]
    if wanted.text:
        named = names.find(tx, wanted.text, COUNTED_MOST)
        if len(named) < COUNTED_MOST:
            rest = replace(wanted, text="")
            queries = [_matching(tx, rest, sort, among=some) for some in chunks(named)]
        elif wanted == HostWanted(text=wanted.text):
            return None
    found = [row for query in queries for row in tx.execute(query.add_columns(place))]
    if len(found) == COUNTED_MOST:
        return None
    in_order = sorted(
        ((row.place is not None, row.place, row.number) for row in found), reverse=descending
    )
    return [number for _, _, number in in_order]


def _walk(
    tx: Transaction, wanted: HostWanted, sort: str, descending: bool, limit: int, offset: int
) -> list[int]:
    """Return the numbers of a page of hosts, found in the order of the sort."""
    found: list[int] = []
    for made, size in _parts(tx, wanted, sort, descending, sized=offset > 0):
        if size is not None and offset >= size:
            offset -= size
            continue
        query = made()
        got = tx.values(query.limit(limit - len(found)).offset(offset))
        found += got
        if len(found) == limit:
            break
        if got or not offset:
            offset = 0
        else:
            whole = query.order_by(None).subquery()
            offset -= int(tx.value(sa.select(sa.func.count()).select_from(whole)))
    return found


def _parts(
    tx: Transaction, wanted: HostWanted, sort: str, descending: bool, *, sized: bool = False
) -> Iterator[_Part]:
    """Yield what finds the hosts in the order of the sort, one after the other.

    sized: it is of use to know how many each of them finds. A query is made when it is asked:
    a thousand take longer to make than one takes to run.
    """
    if sort == "owner":
        yield from _parts_by_owner(tx, wanted, descending, sized=sized)
        return
    key = SORTS[sort]
    # Equal ones are in the order of the table that the sort is of, as they lie in its index.
    equal = hosts.c.id if sort in _OF_HOSTS else units.c.id
    order = [key, equal] if key is not equal else [equal]
    query = _matching(tx, wanted, sort).order_by(*_either(*order, descending=descending))
    if sort not in _MAY_BE_UNKNOWN:
        yield lambda: query, None
        return
    # The databases do not agree on where what is unknown goes.
    yield (lambda: query.where(key.is_not(None) if descending else key.is_(None))), None
    yield (lambda: query.where(key.is_(None) if descending else key.is_not(None))), None


def _either(*columns: Any, descending: bool) -> list[Any]:
    return [column.desc() if descending else column for column in columns]


def _parts_by_owner(
    tx: Transaction, wanted: HostWanted, descending: bool, *, sized: bool
) -> Iterator[_Part]:
    """Yield the hosts of nobody, then those of each agent by its name: what it owns is an index.

    Only what is in another state than `placed` can have no owner.
    """

    def of_nobody(state: str) -> sa.Select[Any]:
        is_open = assignments.c.until_ms.is_(None)
        owned = sa.exists().where(assignments.c.unit_id == units.c.id, is_open)
        query = _matching(tx, wanted, "state").where(units.c.state == state, ~owned)
        return query.order_by(*_either(units.c.id, descending=descending))

    def of_agent(number: int, name: str) -> sa.Select[Any]:
        query = _matching(tx, replace(wanted, owner=name), "state", number)
        return query.order_by(*_either(assignments.c.unit_id, descending=descending))

    sizes = _sizes_by_owner(tx) if sized and wanted.is_any else None
    known = tx.execute(sa.select(agents.c.id, agents.c.name)).all()
    fleet = sorted(known, key=lambda row: str(row.name), reverse=descending)
    # State by state, as they lie in the index; SQLite does not know that few are in these.
    others = [] if wanted.owner else [state for state in STATES if state != "placed"]
    if not descending:
        yield from ((partial(of_nobody, state), None) for state in others)
    for owner in fleet:
        if wanted.owner in ("", owner.name):
            size = None if sizes is None else sizes.get(owner.id, 0)
            yield partial(of_agent, owner.id, owner.name), size
    if descending:
        yield from ((partial(of_nobody, state), None) for state in reversed(others))


def _sizes_by_owner(tx: Transaction) -> dict[int, int]:
    """Return how many hosts each agent owns the unit `/` of."""
    is_open = assignments.c.until_ms.is_(None)
    counted = sa.func.count().label("held")
    agent = assignments.c.agent_id
    owned = sa.select(agent, counted).where(is_open).group_by(agent)
    sizes = {row.agent_id: int(row.held) for row in tx.execute(owned)}
    # Pieces of hosts that are split are few, and have an index of their own.
    pieces = tx.values(sa.select(units.c.id).where(sa.text("units.path <> '/'")))
    for owner in owners_of(tx, pieces).values():
        sizes[owner] -= 1
    return sizes


def lines(tx: Transaction, host_ids: list[int]) -> list[HostLine]:
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


def _matching(
    tx: Transaction,
    wanted: HostWanted,
    sort: str,
    agent: int | None = None,
    among: list[int] | None = None,
) -> sa.Select[Any]:
    """Return a query over no more tables than the filters and the sort need.

    agent: the number of `wanted.owner`, where it is known. among: the numbers of hosts.
    """
    # Where the unit is asked about it leads; the host behind it is looked at only if need be.
    by_unit = bool(wanted.owner or wanted.state) or sort not in _OF_HOSTS
    by_host = bool(wanted.reversed_prefix or wanted.text) or sort in _OF_HOSTS
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
