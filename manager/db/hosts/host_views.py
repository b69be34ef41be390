"""Hosts as people list and search them, of millions of which few match or a page is shown.

What is filtered is looked for first, up to `COUNTED_MOST`: where that was all, it is put in order
here. Otherwise so many match that a walk in the order of the sort soon comes upon a page of them.
It goes through parts, each in the order of an index that holds all that is asked, as
`ix_units_volume`: nothing is sorted, nothing joined that is passed by, so that a far page costs
little more than the first.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any, Final

import sqlalchemy as sa

from manager.db.error_translation import may_be_kept
from manager.db.host_names import HostNames
from manager.db.hosts.host_matching import SORTS, STATES, HostWanted, Range, matching
from manager.db.hosts.host_order import parts
from manager.db.tables import agents, assignments, hosts, units
from manager.db.transaction import Transaction, chunks
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

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


@message_fields
@frozen
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
    resolve_problem: Message | None
    resolve_failure: str
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
    """Return how many hosts match, counted up to `COUNTED_MOST`, and a page of them.

    Raises FormatError for an offset that no database can count to.
    """
    may_be_kept(offset)
    if wanted.is_any:
        counted = _counted(tx, sa.select(hosts.c.id))
        return counted, lines(tx, _walk_over_all(tx, names, sort, descending, limit, offset))
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
    for made, _ in parts(tx, wanted, sort, descending):
        numbered.extend(tx.execute(made().execution_options(yield_per=10_000)).scalars())
    return numbered


def count_by_state(tx: Transaction) -> dict[str, int]:
    """Return how many hosts are in each state, that of their unit `/`."""
    return tx.counts(units.c.state, units.c.path == "/")


def _counted(tx: Transaction, query: sa.Select[Any]) -> int:
    """Return how many a query finds, counted up to `COUNTED_MOST`."""
    return tx.count(query.limit(COUNTED_MOST).subquery())


def _found(
    tx: Transaction, names: HostNames, wanted: HostWanted, sort: str, descending: bool
) -> list[int] | None:
    """Return the hosts that match, in order; None where they are too many to be put in order."""
    if wanted == HostWanted(state=wanted.state):
        # Their index tells whether they are too many, without a look at what they are sorted by.
        some = matching(tx, wanted, "state")
        if _counted(tx, some) == COUNTED_MOST:
            return None
    ranges: list[Range | None] = [*wanted.ranges]
    queries = [
        matching(tx, wanted, sort, within=one).limit(COUNTED_MOST) for one in ranges or [None]
    ]
    if wanted.text:
        # A database cannot look for Unicode in A-labels: of such names no more are listed.
        most = COUNTED_MOST if wanted.text.isascii() else COUNTED_MOST - 1
        named = names.find(tx, wanted.text, most)
        if len(named) < COUNTED_MOST:
            rest = replace(wanted, text="")
            queries = [matching(tx, rest, sort, among=some) for some in chunks(named)]
        elif wanted == HostWanted(text=wanted.text):
            return None
    place = SORTS[sort].label("place")
    found = [row for query in queries for row in tx.execute(query.add_columns(place))]
    if len(found) >= COUNTED_MOST:
        return None
    in_order = sorted(
        ((row.place is not None, row.place, row.number) for row in found), reverse=descending
    )
    return [number for _, _, number in in_order]


def _walk_over_all(
    tx: Transaction, names: HostNames, sort: str, descending: bool, limit: int, offset: int
) -> list[int]:
    """Return the numbers of a page of all hosts, found from the nearer end of the list."""
    every = HostWanted()
    if offset < COUNTED_MOST:
        return _walk(tx, every, sort, descending, limit, offset)
    end = names.count(tx)
    behind = max(0, end - offset - limit)
    if behind >= offset:
        return _walk(tx, every, sort, descending, limit, offset)
    limit = max(0, end - behind - offset)
    return _walk(tx, every, sort, not descending, limit, behind)[::-1]


def _walk(
    tx: Transaction, wanted: HostWanted, sort: str, descending: bool, limit: int, offset: int
) -> list[int]:
    """Return the numbers of a page of hosts, found in the order of the sort."""
    found: list[int] = []
    for made, size in parts(tx, wanted, sort, descending, sized=offset > 0):
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
            offset -= tx.count(query.order_by(None).subquery())
    return found


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
            hosts.c.resolve_failure,
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
