"""Start pages: pages of a unit that were found outside it, and travel with its line in a list."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import sqlalchemy as sa

from manager.db.engine import Transaction, chunks
from manager.db.tables import start_pages, units
from shared.frozen import frozen

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


@frozen
class NewStartPage:
    """A page that was found outside, to begin from inside a unit.

    round: it was found in another piece of its host, and counts in that round only.
    """

    unit_id: int
    url: str
    referer: str | None
    round: int | None = None


@frozen
class StartPageRow:
    """A start page of a unit, as a list sends it."""

    id: int
    unit_id: int
    url: str
    referer: str | None


def add_start_pages(
    tx: Transaction, new: Sequence[NewStartPage], limit: int, now_ms: int
) -> list[NewStartPage]:
    """Keep start pages that are not known yet, at most `limit` a unit; return the new ones.

    Pages of one call must differ.
    """
    known: dict[int, int] = {}
    for part in chunks({page.unit_id for page in new}):
        rows = tx.execute(sa.select(units.c.id, units.c.start_pages).where(units.c.id.in_(part)))
        known.update({row.id: row.start_pages for row in rows})
    there: set[tuple[int, str]] = set()
    for pages in chunks(new):
        rows = tx.execute(
            sa.select(start_pages.c.unit_id, start_pages.c.url).where(
                start_pages.c.unit_id.in_({page.unit_id for page in pages}),
                start_pages.c.url.in_([page.url for page in pages]),
            )
        )
        there.update((row.unit_id, row.url) for row in rows)
    added: list[NewStartPage] = []
    for page in new:
        if (page.unit_id, page.url) not in there and known[page.unit_id] < limit:
            known[page.unit_id] += 1
            added.append(page)
    if not added:
        return []
    tx.insert(
        start_pages,
        [
            {
                "unit_id": page.unit_id,
                "url": page.url,
                "referer": page.referer,
                "found_ms": now_ms,
                "round": page.round,
            }
            for page in added
        ],
    )
    tx.execute(
        units.update()
        .where(units.c.id == sa.bindparam("unit"))
        .values(start_pages=sa.bindparam("pages_now")),
        [{"unit": unit, "pages_now": known[unit]} for unit in sorted({p.unit_id for p in added})],
    )
    return added


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
    touched: set[int] = set(moves.values())
    for part in chunks(moves):
        touched.update(
            tx.values(sa.select(start_pages.c.unit_id).where(start_pages.c.id.in_(part)))
        )
    tx.execute(
        start_pages.update()
        .where(start_pages.c.id == sa.bindparam("page"))
        .values(unit_id=sa.bindparam("to_unit")),
        [{"page": page, "to_unit": unit} for page, unit in moves.items()],
    )
    _count(tx, touched)


def drop_found(tx: Transaction, unit_ids: Collection[int]) -> None:
    """Forget what other pieces of their host found in some units, whatever the round."""
    for part in chunks(unit_ids):
        tx.execute(
            start_pages.delete().where(
                start_pages.c.unit_id.in_(part), start_pages.c.round.is_not(None)
            )
        )
    _count(tx, unit_ids)


def _count(tx: Transaction, unit_ids: Collection[int]) -> None:
    """Recount the start pages of units."""
    there = (
        sa.select(sa.func.count())
        .where(start_pages.c.unit_id == units.c.id)
        .correlate(units)
        .scalar_subquery()
    )
    for part in chunks(unit_ids):
        tx.execute(units.update().where(units.c.id.in_(part)).values(start_pages=there))


def count_start_pages(tx: Transaction, unit_ids: Collection[int]) -> int:
    """Return how many start pages some units have."""
    counted = sa.select(sa.func.count()).select_from(start_pages)
    return sum(
        int(tx.value(counted.where(start_pages.c.unit_id.in_(part)))) for part in chunks(unit_ids)
    )


def start_pages_of(tx: Transaction, unit_ids: Collection[int]) -> list[StartPageRow]:
    """Return the start pages of some units, by unit, in the order in which they were found."""
    found: list[StartPageRow] = []
    for part in chunks(unit_ids):
        found += tx.rows(
            StartPageRow,
            sa.select(
                start_pages.c.id, start_pages.c.unit_id, start_pages.c.url, start_pages.c.referer
            )
            .where(start_pages.c.unit_id.in_(part))
            .order_by(start_pages.c.unit_id, start_pages.c.id),
        )
    return found
