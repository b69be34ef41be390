"""Start pages: pages of a unit that were found outside it, and travel with its line in a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import start_pages, units
from manager.db.transaction import Transaction, chunks
from shared.frozen import frozen, values_of

__all__ = [
    "NewStartPage",
    "StartPageRow",
    "add_start_pages",
    "count_start_pages",
    "drop_found",
    "forget_found",
    "move_start_pages",
    "start_pages_of",
]


c: Final = start_pages.c


@frozen
class NewStartPage:
    """A page that was found outside, to begin from inside a unit.

    round: it was found in another piece of its host, and counts in that round only. found_by: the
    agent that named it; None: a person.
    """

    unit_id: int
    url: str
    referer: str | None
    round: int | None = None
    found_by: int | None = None


@frozen
class StartPageRow:
    """A start page of a unit, as a list sends it."""

    id: int
    unit_id: int
    url: str
    referer: str | None
    referrers: int = 1


def add_start_pages(
    tx: Transaction, new: Sequence[NewStartPage], limit: int, now_ms: int
) -> list[NewStartPage]:
    """Keep start pages that are not known yet, at most `limit` a unit; return the new ones.

    One agent fills half of that at most, so none keeps the pages that others find out. A known one
    counts one referrer more, where another sender named it last. What finds no room is counted
    with its unit. Pages of one call must differ.
    """
    counted = sa.select(units.c.id, units.c.start_pages)
    known = dict(tx.among(counted, units.c.id, {page.unit_id for page in new}))
    there: dict[tuple[int, str], sa.Row[Any]] = {}
    for pages in chunks(new):
        rows = tx.execute(
            sa.select(c.id, c.unit_id, c.url, c.found_by).where(
                start_pages.c.unit_id.in_({page.unit_id for page in pages}),
                start_pages.c.url.in_([page.url for page in pages]),
            )
        )
        there.update(((row.unit_id, row.url), row) for row in rows)
    _count_referrers(tx, new, there)
    share = max(1, limit // 2)
    of_sender = _count_by_sender(tx, known)
    dropped: dict[int, int] = defaultdict(int)
    added: list[NewStartPage] = []
    for page in new:
        if (page.unit_id, page.url) in there:
            continue
        sender = (page.unit_id, page.found_by)
        has_room = page.found_by is None or of_sender[sender] < share
        if known[page.unit_id] < limit and has_room:
            known[page.unit_id] += 1
            of_sender[sender] += 1
            added.append(page)
        else:
            dropped[page.unit_id] += 1
    _count_dropped(tx, dropped)
    if not added:
        return []
    tx.insert(start_pages, [{**values_of(page), "found_ms": now_ms} for page in added])
    touched = sorted({page.unit_id for page in added})
    tx.update_each(units, ["id"], [{"id": unit, "start_pages": known[unit]} for unit in touched])
    return added


def _count_referrers(
    tx: Transaction, new: Sequence[NewStartPage], there: Mapping[tuple[int, str], sa.Row[Any]]
) -> None:
    """Count a referrer more for known pages that another sender than the last one names."""
    known = ((page, there.get((page.unit_id, page.url))) for page in new)
    rows = [
        {"id": row.id, "found_by": page.found_by}
        for page, row in known
        if row is not None and row.found_by != page.found_by
    ]
    if rows:
        one_more = start_pages.c.referrers + 1
        tx.update_each(start_pages, ["id"], rows, referrers=one_more)


def _count_by_sender(
    tx: Transaction, unit_ids: Collection[int]
) -> defaultdict[tuple[int, int | None], int]:
    """Return how many start pages of some units each sender named last."""
    counted = sa.select(c.unit_id, c.found_by, sa.func.count()).group_by(c.unit_id, c.found_by)
    found: defaultdict[tuple[int, int | None], int] = defaultdict(int)
    for unit_id, sender, pages in tx.among(counted, c.unit_id, unit_ids):
        found[unit_id, sender] = pages
    return found


def _count_dropped(tx: Transaction, dropped: Mapping[int, int]) -> None:
    rows = [{"unit_id": unit, "more": more} for unit, more in sorted(dropped.items())]
    if rows:
        more = units.c.dropped_pages + sa.bindparam("more")
        counting = units.update().where(units.c.id == sa.bindparam("unit_id"))
        tx.execute(counting.values(dropped_pages=more), rows)


def forget_found(tx: Transaction, before_round: int) -> None:
    """Forget the pages that pieces of split hosts found in each other, in rounds before one."""
    found = start_pages.c.round < before_round
    touched = tx.values(sa.select(start_pages.c.unit_id).where(found).distinct())
    if touched:
        tx.execute(start_pages.delete().where(found))
        _count(tx, touched)


def move_start_pages(tx: Transaction, moves: Mapping[int, int]) -> None:
    """Give start pages (by number) to other units."""
    if not moves:
        return
    left = tx.values_among(sa.select(start_pages.c.unit_id), start_pages.c.id, moves)
    rows = [{"id": page, "unit_id": unit} for page, unit in moves.items()]
    tx.update_each(start_pages, ["id"], rows)
    _count(tx, {*left, *moves.values()})


def drop_found(tx: Transaction, unit_ids: Collection[int]) -> None:
    """Forget what other pieces of their host found in some units, whatever the round."""
    found = start_pages.delete().where(start_pages.c.round.is_not(None))
    tx.changed_among(found, start_pages.c.unit_id, unit_ids)
    _count(tx, unit_ids)


def _count(tx: Transaction, unit_ids: Collection[int]) -> None:
    """Recount the start pages of units."""
    there = (
        sa.select(sa.func.count())
        .where(start_pages.c.unit_id == units.c.id)
        .correlate(units)
        .scalar_subquery()
    )
    tx.changed_among(units.update().values(start_pages=there), units.c.id, unit_ids)


def count_start_pages(tx: Transaction, unit_ids: Collection[int]) -> int:
    """Return how many start pages some units have."""
    return sum(tx.count(start_pages, start_pages.c.unit_id.in_(part)) for part in chunks(unit_ids))


def start_pages_of(tx: Transaction, unit_ids: Collection[int]) -> list[StartPageRow]:
    """Return the start pages of some units, by unit, the most referred first.

    Of those that are equal, the oldest of each sender in turn: none is served before the others.
    """
    turn = sa.func.row_number().over(
        partition_by=(c.unit_id, c.found_by, c.referrers), order_by=c.id
    )
    query = sa.select(c.id, c.unit_id, c.url, c.referer, c.referrers)
    query = query.order_by(c.unit_id, c.referrers.desc(), turn, c.id)
    return tx.rows_among(StartPageRow, query, c.unit_id, unit_ids)
