"""Pages that other agents refetch: drawn from arriving logs, open while an agent fetches them.

drawn -> open -> closed. Of an agent and round those with the lowest ranks are kept, so many of
crawls and so many of probes. Drawn pages of probes count where the agent's crawl continued the
probe.
Not decided here: the agent that fetches them (`refetch_orders`), and the verdict (operations).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import sqlalchemy as sa

from manager.assignment.refetch_rules import DrawnPage
from manager.db.ownership.work_orders import OPEN
from manager.db.tables import host_sums, refetch_orders, refetch_pages
from manager.db.transaction import Transaction
from shared.frozen import frozen, values_of
from shared.wire.orders import OrderKind

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
    kind: str = "crawl"


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
    tx: Transaction,
    agent_id: int,
    pages: Sequence[tuple[int, DrawnPage]],
    most: Mapping[OrderKind, int],
) -> None:
    """Keep pages, by (unit, page), that were drawn; of a round those with the lowest ranks.

    most: how many of a round, by the kind of their lines.
    """
    beyond = {
        (number, kind): _first_rank_beyond(tx, agent_id, number, kind, most[kind])
        for number, kind in {(page.round, page.kind) for _, page in pages}
    }
    low = [
        (unit_id, page)
        for unit_id, page in pages
        if (end := beyond[page.round, page.kind]) is None or page.rank < end
    ]
    of_all = {"agent_id": agent_id, "state": "drawn"}
    rows = [{"unit_id": unit_id, **values_of(page), **of_all} for unit_id, page in low]
    for row in rows:
        del row["unit"]
    _forget_probed(tx, agent_id, [page for _, page in low if page.kind == "crawl"])
    tx.insert_new(refetch_pages, rows)
    for number, kind in beyond:
        end = _first_rank_beyond(tx, agent_id, number, kind, most[kind])
        if end is not None:
            drawn = _is_drawn(agent_id, number, kind), refetch_pages.c.rank >= end
            tx.execute(refetch_pages.delete().where(*drawn))


def _first_rank_beyond(
    tx: Transaction, agent_id: int, number: int, kind: OrderKind, most: int
) -> int | None:
    """Return the lowest rank that has no room; None: there is room."""
    ranks = tx.values(
        sa.select(refetch_pages.c.rank)
        .where(_is_drawn(agent_id, number, kind))
        .order_by(refetch_pages.c.rank)
        .offset(most)
        .limit(1)
    )
    return int(ranks[0]) if ranks else None


def _is_drawn(agent_id: int, number: int, kind: OrderKind) -> sa.ColumnElement[bool]:
    c = refetch_pages.c
    return sa.and_(c.round == number, c.agent_id == agent_id, c.state == "drawn", c.kind == kind)


def _forget_probed(tx: Transaction, agent_id: int, crawled: Sequence[DrawnPage]) -> None:
    """Forget drawn pages of probes where a crawl fetched them again."""
    c = refetch_pages.c
    for number in {page.round for page in crawled}:
        probed = c.kind == "probe", c.state == "drawn", c.agent_id == agent_id, c.round == number
        urls = [page.url for page in crawled if page.round == number]
        tx.changed_among(refetch_pages.delete().where(*probed), c.url, urls)


def drawn(tx: Transaction, number: int) -> list[PageRow]:
    """Return the pages that were drawn in a round, by agent, the lowest ranks first."""
    counts = sa.exists().where(
        host_sums.c.agent_id == refetch_pages.c.agent_id,
        host_sums.c.unit_id == refetch_pages.c.unit_id,
        host_sums.c.round == refetch_pages.c.round,
        host_sums.c.kind == "crawl",
        host_sums.c.with_probe,
    )
    return tx.rows(
        PageRow,
        sa.select(refetch_pages)
        .where(
            refetch_pages.c.state == "drawn",
            refetch_pages.c.round == number,
            sa.or_(refetch_pages.c.kind == "crawl", counts),
        )
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
