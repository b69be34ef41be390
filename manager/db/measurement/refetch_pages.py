"""Pages that other agents refetch: drawn from arriving logs, open while an agent fetches them.

drawn -> open -> closed. Of an agent and round those with the lowest ranks are kept.
Not decided here: the agent that fetches them (`refetch_orders`), and the verdict (operations).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import sqlalchemy as sa

from manager.assignment.refetch_rules import DrawnPage
from manager.db.ownership.work_orders import OPEN
from manager.db.tables import host_sums, refetch_orders, refetch_pages
from manager.db.transaction import Transaction
from shared.frozen import frozen, values_of

__all__ = [
    "PageRow",
    "drawn",
    "forget_before",
    "forget_drawn",
    "keep_drawn",
    "open_pages",
    "pages_by_id",
    "pages_of_agent",
    "requests_by_agent",
    "set_state",
]


@frozen
class PageRow:
    """All that is kept of a page."""

    id: int
    round: int
    agent_id: int
    unit_id: int
    url: str
    rank: int
    status: int | None
    response_bytes: int
    state: str


_OPEN_PAGES: Final = (
    sa.select(refetch_pages)
    .where(
        refetch_pages.c.state == "open",
        ~sa.exists().where(
            refetch_orders.c.page_id == refetch_pages.c.id, refetch_orders.c.state.in_(OPEN)
        ),
    )
    .limit(sa.bindparam("most"))
)


def keep_drawn(
    tx: Transaction, agent_id: int, pages: Sequence[tuple[int, DrawnPage]], most: int
) -> None:
    """Keep pages, by (unit, page), that were drawn; of a round the `most` with the lowest ranks."""
    of_all = {"agent_id": agent_id, "state": "drawn"}
    rows = [{"unit_id": unit_id, **values_of(page), **of_all} for unit_id, page in pages]
    for row in rows:
        del row["unit"]
    tx.insert_new(refetch_pages, rows)
    for number in {page.round for _, page in pages}:
        of_agent = sa.and_(
            refetch_pages.c.round == number,
            refetch_pages.c.agent_id == agent_id,
            refetch_pages.c.state == "drawn",
        )
        beyond = tx.value(
            sa.select(refetch_pages.c.rank)
            .where(of_agent)
            .order_by(refetch_pages.c.rank)
            .offset(most)
            .limit(1)
        )
        if beyond is not None:
            tx.execute(refetch_pages.delete().where(of_agent, refetch_pages.c.rank >= beyond))


def drawn(tx: Transaction, number: int) -> list[PageRow]:
    """Return the pages that were drawn in a round, by agent, the lowest ranks first."""
    return tx.rows(
        PageRow,
        sa.select(refetch_pages)
        .where(refetch_pages.c.state == "drawn", refetch_pages.c.round == number)
        .order_by(refetch_pages.c.agent_id, refetch_pages.c.rank),
    )


def requests_by_agent(tx: Transaction, number: int) -> dict[int, int]:
    """Return how many requests of its crawl each agent logged in a round."""
    c = host_sums.c
    query = sa.select(c.agent_id, sa.func.sum(c.requests)).group_by(c.agent_id)
    rows = tx.tuples(query.where(c.round == number, c.kind == "crawl"))
    return {agent: int(requests) for agent, requests in rows}


def forget_before(tx: Transaction, number: int) -> None:
    """Forget the pages of rounds before one, but for those that are to be fetched still."""
    old = refetch_pages.c.round < number, refetch_pages.c.state != "open"
    of_old = refetch_orders.c.page_id.in_(sa.select(refetch_pages.c.id).where(*old))
    tx.execute(refetch_orders.delete().where(of_old))
    tx.execute(refetch_pages.delete().where(*old))


def forget_drawn(tx: Transaction, number: int) -> None:
    """Forget unneeded pages that were drawn up to a round."""
    unneeded = refetch_pages.c.round <= number, refetch_pages.c.state == "drawn"
    tx.execute(refetch_pages.delete().where(*unneeded))


def set_state(tx: Transaction, page_ids: Collection[int], state: str) -> None:
    """Set whether pages are still to be fetched: `open`, or `closed`."""
    tx.changed_among(refetch_pages.update().values(state=state), refetch_pages.c.id, page_ids)


def open_pages(tx: Transaction, limit: int) -> list[PageRow]:
    """Return pages without an open order that are not closed yet."""
    return tx.rows(PageRow, _OPEN_PAGES, {"most": limit})


def pages_by_id(tx: Transaction, page_ids: Collection[int]) -> list[PageRow]:
    """Return some pages."""
    return tx.rows_among(PageRow, sa.select(refetch_pages), refetch_pages.c.id, page_ids)


def pages_of_agent(tx: Transaction, agent_id: int, number: int) -> list[PageRow]:
    """Return the pages of a round that an agent crawled or fetched again, but not those drawn."""
    fetched = sa.select(refetch_orders.c.page_id).where(refetch_orders.c.agent_id == agent_id)
    return tx.rows(
        PageRow,
        sa.select(refetch_pages)
        .where(
            refetch_pages.c.round == number,
            refetch_pages.c.state != "drawn",
            sa.or_(refetch_pages.c.agent_id == agent_id, refetch_pages.c.id.in_(fetched)),
        )
        .order_by(refetch_pages.c.agent_id != agent_id, refetch_pages.c.url),
    )
