"""Start pages: pages of a unit that were found outside it, and travel with its line in a list."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from manager.db.engine import Transaction, chunks
from manager.db.tables import start_pages, units

__all__ = [
    "NewStartPage",
    "StartPageRow",
    "add_start_pages",
    "start_pages_of",
]


@dataclass(frozen=True, slots=True)
class NewStartPage:
    """A page that was found outside, to begin from inside a unit."""

    unit_id: int
    url: str
    referer: str | None


@dataclass(frozen=True, slots=True)
class StartPageRow:
    """A start page of a unit, as a list sends it."""

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


def start_pages_of(tx: Transaction, unit_ids: Collection[int]) -> list[StartPageRow]:
    """Return the start pages of some units, by unit, in the order in which they were found."""
    found: list[StartPageRow] = []
    for part in chunks(unit_ids):
        found += tx.rows(
            StartPageRow,
            sa.select(start_pages.c.unit_id, start_pages.c.url, start_pages.c.referer)
            .where(start_pages.c.unit_id.in_(part))
            .order_by(start_pages.c.unit_id, start_pages.c.id),
        )
    return found
