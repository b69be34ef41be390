"""Pages that other agents fetch again: drawn as logs come, ordered, compared.

Of an order the states are those of a probe: waiting -> granted -> finished -> done, or failed; a
right that is freed without the unit being finished puts its orders back to waiting (`rights`).
Who fetches what, and what it means, is left to operations.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from manager.db.engine import Transaction, any_of, chunks
from manager.db.pins import not_banned
from manager.db.rights import nobody_else
from manager.db.tables import (
    host_sums,
    hosts,
    refetch_orders,
    refetch_pages,
    rights,
    units,
)

__all__ = [
    "DrawnPage",
    "OrderRow",
    "PageRow",
    "WaitingUnit",
    "agents_with_open",
    "close",
    "drawn",
    "fail",
    "finish",
    "forget_before",
    "forget_drawn",
    "granted_units",
    "keep_drawn",
    "open_pages",
    "order",
    "orders_of_pages",
    "overdue",
    "pages_by_id",
    "pages_of_agent",
    "requests_by_agent",
    "set_granted",
    "set_results",
    "urls_listed",
    "waiting_for",
]

OPEN = ("waiting", "granted", "finished")


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A page of an agent's log that is to be fetched again, if its rank is among the lowest."""

    round: int
    agent_id: int
    unit_id: int
    url: str
    rank: int
    status: int | None
    response_bytes: int


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class OrderRow:
    """All that is kept of an order."""

    id: int
    page_id: int
    unit_id: int
    agent_id: int
    state: str
    ordered_ms: int
    granted_ms: int | None
    finished_ms: int | None
    status: int | None
    response_bytes: int
    reason: str


@dataclass(frozen=True, slots=True)
class WaitingUnit:
    """A unit of which an agent could be given pages to fetch again now; pages: how many."""

    unit_id: int
    group_id: int
    pages: int


def keep_drawn(tx: Transaction, pages: Sequence[DrawnPage], most: int) -> None:
    """Remember pages that were drawn; of an agent and round the `most` with the lowest ranks."""
    tx.insert_new(refetch_pages, [{**asdict(page), "state": "drawn"} for page in pages])
    for number, agent_id in {(page.round, page.agent_id) for page in pages}:
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
    rows = tx.execute(
        sa.select(host_sums.c.agent_id, sa.func.sum(host_sums.c.requests).label("requests"))
        .where(host_sums.c.round == number, host_sums.c.kind == "crawl")
        .group_by(host_sums.c.agent_id)
    )
    return {row.agent_id: int(row.requests) for row in rows}


def forget_before(tx: Transaction, number: int) -> None:
    """Forget the pages of rounds before one, but for those that are to be fetched still."""
    old = sa.select(refetch_pages.c.id).where(
        refetch_pages.c.round < number, refetch_pages.c.state != "open"
    )
    tx.execute(refetch_orders.delete().where(refetch_orders.c.page_id.in_(old)))
    tx.execute(
        refetch_pages.delete().where(
            refetch_pages.c.round < number, refetch_pages.c.state != "open"
        )
    )


def forget_drawn(tx: Transaction, number: int) -> None:
    """Forget what was drawn up to a round and is not needed."""
    tx.execute(
        refetch_pages.delete().where(
            refetch_pages.c.round <= number, refetch_pages.c.state == "drawn"
        )
    )


def order(tx: Transaction, pairs: Sequence[tuple[PageRow, int]], now_ms: int) -> None:
    """Order agents to fetch pages; an agent fetches a page once."""
    tx.insert_new(
        refetch_orders,
        [
            {
                "page_id": page.id,
                "unit_id": page.unit_id,
                "agent_id": agent_id,
                "state": "waiting",
                "ordered_ms": now_ms,
            }
            for page, agent_id in pairs
        ],
    )
    _set_state(tx, [page.id for page, _ in pairs], "open")


def close(tx: Transaction, page_ids: Collection[int]) -> None:
    """Note that nobody need fetch some pages any more."""
    _set_state(tx, page_ids, "closed")


def _set_state(tx: Transaction, page_ids: Collection[int], state: str) -> None:
    for part in chunks(page_ids):
        tx.execute(refetch_pages.update().where(refetch_pages.c.id.in_(part)).values(state=state))


def waiting_for(tx: Transaction, agent_id: int, limit: int) -> list[WaitingUnit]:
    """Return units with pages for an agent, in whose group nobody else has a right."""
    return tx.rows(
        WaitingUnit,
        sa.select(refetch_orders.c.unit_id, hosts.c.group_id, sa.func.count().label("pages"))
        .join(units, units.c.id == refetch_orders.c.unit_id)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(
            refetch_orders.c.agent_id == agent_id,
            refetch_orders.c.state == "waiting",
            units.c.state == "placed",
            hosts.c.group_id.is_not(None),
            nobody_else(agent_id, refetch_orders.c.unit_id),
            not_banned(agent_id, hosts.c.id),
        )
        .group_by(refetch_orders.c.unit_id, hosts.c.group_id)
        .order_by(refetch_orders.c.unit_id)
        .limit(limit),
    )


def set_granted(tx: Transaction, agent_id: int, unit_ids: Collection[int], now_ms: int) -> None:
    """Note that an agent was given the pages of some units to fetch."""
    for part in chunks(unit_ids):
        tx.execute(
            refetch_orders.update()
            .where(
                refetch_orders.c.agent_id == agent_id,
                refetch_orders.c.state == "waiting",
                refetch_orders.c.unit_id.in_(part),
            )
            .values(state="granted", granted_ms=now_ms)
        )


def urls_listed(tx: Transaction, agent_id: int, unit_ids: Collection[int]) -> dict[int, list[str]]:
    """Return the URLs that an agent's rights to fetch pages of some units again are for, by unit.

    Also those that it has logged since: the order stays as it was given.
    """
    found: dict[int, list[str]] = {}
    for part in chunks(unit_ids):
        rows = tx.execute(
            sa.select(refetch_orders.c.unit_id, refetch_pages.c.url)
            .join(refetch_pages, refetch_pages.c.id == refetch_orders.c.page_id)
            .join(rights, rights.c.unit_id == refetch_orders.c.unit_id)
            .where(
                refetch_orders.c.agent_id == agent_id,
                refetch_orders.c.unit_id.in_(part),
                rights.c.agent_id == agent_id,
                rights.c.kind == "refetch",
                refetch_orders.c.granted_ms == rights.c.granted_ms,
            )
            .order_by(refetch_orders.c.id)
        )
        for row in rows:
            found.setdefault(row.unit_id, []).append(row.url)
    return found


def granted_units(tx: Transaction) -> list[int]:
    """Return the units of which somebody fetches pages again now."""
    return tx.values(
        sa.select(refetch_orders.c.unit_id).where(refetch_orders.c.state == "granted").distinct()
    )


def finish(
    tx: Transaction, agent_id: int, finished: Sequence[tuple[int, str]], now_ms: int
) -> None:
    """Note that an agent is through with units (with what it said); its log is still to come."""
    if finished:
        tx.execute(
            refetch_orders.update()
            .where(
                refetch_orders.c.agent_id == agent_id,
                refetch_orders.c.unit_id == sa.bindparam("unit"),
                any_of(refetch_orders.c.state, "waiting", "granted"),
            )
            .values(state="finished", finished_ms=now_ms, reason=sa.bindparam("why")),
            [{"unit": unit, "why": reason} for unit, reason in finished],
        )


def set_results(
    tx: Transaction, agent_id: int, seen: Sequence[tuple[str, int | None, int]]
) -> list[int]:
    """Enter (url, status, bytes) of an agent's log; return the pages that somebody waited for."""
    of_url = {url: (status, size) for url, status, size in seen}
    touched: list[int] = []
    for part in chunks(of_url):
        rows = tx.execute(
            sa.select(refetch_orders.c.id, refetch_orders.c.page_id, refetch_pages.c.url)
            .join(refetch_pages, refetch_pages.c.id == refetch_orders.c.page_id)
            .where(
                refetch_orders.c.agent_id == agent_id,
                refetch_orders.c.state.in_(OPEN),
                refetch_pages.c.url.in_(part),
            )
        ).all()
        for row in rows:
            status, size = of_url[row.url]
            tx.execute(
                refetch_orders.update()
                .where(refetch_orders.c.id == row.id)
                .values(state="done", status=status, response_bytes=size)
            )
            touched.append(row.page_id)
    return touched


def fail(tx: Transaction, order_ids: Collection[int], reason: str) -> None:
    """Give orders up."""
    for part in chunks(order_ids):
        tx.execute(
            refetch_orders.update()
            .where(refetch_orders.c.id.in_(part), refetch_orders.c.state.in_(OPEN))
            .values(state="failed", reason=reason)
        )


def agents_with_open(tx: Transaction) -> list[int]:
    """Return the agents that have pages to fetch again, or to log."""
    return tx.values(
        sa.select(refetch_orders.c.agent_id).where(refetch_orders.c.state.in_(OPEN)).distinct()
    )


def overdue(
    tx: Transaction, agent_id: int, state: str, before_ms: int, limit: int
) -> list[OrderRow]:
    """Return orders of an agent that have been in a state since before a moment."""
    since = {"waiting": "ordered_ms", "granted": "granted_ms", "finished": "finished_ms"}[state]
    return tx.rows(
        OrderRow,
        sa.select(refetch_orders)
        .where(
            refetch_orders.c.agent_id == agent_id,
            refetch_orders.c.state == state,
            refetch_orders.c[since] < before_ms,
        )
        .limit(limit),
    )


def open_pages(tx: Transaction, limit: int) -> list[PageRow]:
    """Return pages of which no order is open any more, and that are not closed."""
    busy = sa.exists().where(
        refetch_orders.c.page_id == refetch_pages.c.id, refetch_orders.c.state.in_(OPEN)
    )
    return tx.rows(
        PageRow,
        sa.select(refetch_pages).where(refetch_pages.c.state == "open", ~busy).limit(limit),
    )


def pages_by_id(tx: Transaction, page_ids: Collection[int]) -> list[PageRow]:
    """Return some pages."""
    found: list[PageRow] = []
    for part in chunks(page_ids):
        found += tx.rows(PageRow, sa.select(refetch_pages).where(refetch_pages.c.id.in_(part)))
    return found


def orders_of_pages(tx: Transaction, page_ids: Collection[int]) -> dict[int, list[OrderRow]]:
    """Return all orders for some pages, by page."""
    found: dict[int, list[OrderRow]] = {page: [] for page in page_ids}
    for part in chunks(page_ids):
        rows = tx.rows(
            OrderRow,
            sa.select(refetch_orders)
            .where(refetch_orders.c.page_id.in_(part))
            .order_by(refetch_orders.c.id),
        )
        for row in rows:
            found[row.page_id].append(row)
    return found


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
