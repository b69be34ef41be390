"""In which order hosts lie that are too many to be sorted: parts, each as an index has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

import sqlalchemy as sa

from manager.db.hosts.host_matching import OF_HOSTS, SORTS, STATES, HostWanted, Range, matching
from manager.db.ownership.assignments import owners_of
from manager.db.tables import agents, assignments, hosts, units
from manager.db.transaction import Transaction, chunks

__all__ = ["OrderedPart", "parts"]

SIZED_AT_ONCE: Final = 50
"""Agents whose hosts are counted at once, while a page by owner is looked for."""

_MAY_BE_UNKNOWN: Final = frozenset({"volume", "pages"})
"""Sorts by what is not known of every host; unknown is less than anything."""


OrderedPart = tuple[Callable[[], sa.Select[Any]], int | None]
"""How to find some of the hosts, in order, and how many these are; None: that is not known."""


def parts(
    tx: Transaction, wanted: HostWanted, sort: str, descending: bool, *, sized: bool = False
) -> Iterator[OrderedPart]:
    """Yield what finds the hosts in the order of the sort, one after the other.

    sized: it is of use to know how many each of them finds. A query is made when it is asked:
    a thousand take longer to make than one takes to run.
    """
    if sort == "owner":
        yield from _parts_by_owner(tx, wanted, descending, sized=sized)
        return
    key = SORTS[sort]
    # Equal ones are in the order of the table that the sort is of, as they lie in its index.
    equal = hosts.c.id if sort in OF_HOSTS else units.c.id
    order = _either(*([key, equal] if key is not equal else [equal]), descending=descending)

    def ordered(within: Range | None) -> sa.Select[Any]:
        return matching(tx, wanted, sort, within=within).order_by(*order)

    if sort == "domain" and wanted.ranges:
        for one in reversed(wanted.ranges) if descending else wanted.ranges:
            yield partial(ordered, one), None
        return
    query = ordered(None)
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
) -> Iterator[OrderedPart]:
    """Yield the hosts without an owner, then those of each agent by name, by the index of owners.

    Only a host in another state than `placed` can have no owner.
    """

    def unowned_hosts(state: str) -> sa.Select[Any]:
        """Return the query of units without an owner in a state."""
        is_open = assignments.c.until_ms.is_(None)
        owned = sa.exists().where(assignments.c.unit_id == units.c.id, is_open)
        query = matching(tx, wanted, "state").where(units.c.state == state, ~owned)
        return query.order_by(*_either(units.c.id, descending=descending))

    def of_agent(number: int, name: str) -> sa.Select[Any]:
        query = matching(tx, replace(wanted, owner=name), "state", number)
        return query.order_by(*_either(assignments.c.unit_id, descending=descending))

    pieces = _pieces_by_owner(tx) if sized and wanted.is_any else None
    known = tx.execute(sa.select(agents.c.id, agents.c.name)).all()
    fleet = sorted(known, key=lambda row: str(row.name), reverse=descending)
    # State by state, as they lie in the index; SQLite does not know that few are in these.
    others = [] if wanted.owner else [state for state in STATES if state != "placed"]
    if not descending:
        yield from ((partial(unowned_hosts, state), None) for state in others)
    for some in chunks([row for row in fleet if wanted.owner in ("", row.name)], SIZED_AT_ONCE):
        owned = None if pieces is None else _owned(tx, [row.id for row in some])
        for row in some:
            size = None
            if owned is not None and pieces is not None:
                size = owned.get(row.id, 0) - pieces[row.id]
            yield partial(of_agent, row.id, row.name), size
    if descending:
        yield from ((partial(unowned_hosts, state), None) for state in reversed(others))


def _owned(tx: Transaction, numbers: list[int]) -> dict[int, int]:
    """Return how many units each of some agents owns."""
    agent, is_open = assignments.c.agent_id, assignments.c.until_ms.is_(None)
    return tx.counts(agent, is_open, agent.in_(numbers))


def _pieces_by_owner(tx: Transaction) -> Counter[int]:
    """Return how many of an agent's units are pieces of hosts: few, with a separate index."""
    pieces = tx.values(sa.select(units.c.id).where(sa.text("units.path <> '/'")))
    return Counter(owners_of(tx, pieces).values())
