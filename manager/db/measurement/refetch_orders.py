"""Refetch orders: assigned to agents page by page, granted unit by unit.

An agent fetches a page once. Who is asked, and what it means, is left to operations.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa

from manager.assignment.refetch_rules import Refetched
from manager.db.measurement.refetch_pages import PageRow, set_state
from manager.db.ownership import work_orders
from manager.db.tables import hosts, refetch_orders, refetch_pages, rights, units
from manager.db.transaction import Transaction, any_of, chunks
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "OrderRow",
    "WaitingUnit",
    "agents_waiting",
    "agents_with_open",
    "fail",
    "finish",
    "granted_units",
    "order",
    "orders_of_pages",
    "overdue",
    "set_granted",
    "set_results",
    "urls_listed",
    "waiting_for",
]


@frozen
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
    reason: Message | None


@frozen
class WaitingUnit:
    """A unit of which an agent could be given pages to fetch again now; pages: how many."""

    unit_id: int
    group_id: int
    pages: int


def order(tx: Transaction, pairs: Sequence[tuple[PageRow, int]], now_ms: int) -> None:
    """Order agents to fetch pages; an agent fetches a page once."""
    waiting = {"state": "waiting", "ordered_ms": now_ms}
    rows = [
        {"page_id": page.id, "unit_id": page.unit_id, "agent_id": agent_id, **waiting}
        for page, agent_id in pairs
    ]
    tx.insert_new(refetch_orders, rows)
    set_state(tx, [page.id for page, _ in pairs], "open")


def waiting_for(tx: Transaction, agent_id: int, limit: int) -> list[WaitingUnit]:
    """Return units with pages for an agent, in whose group no other agent has a right."""
    return tx.rows(
        WaitingUnit,
        sa.select(refetch_orders.c.unit_id, hosts.c.group_id, sa.func.count().label("pages"))
        .join(units, units.c.id == refetch_orders.c.unit_id)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(
            work_orders.is_free_for(agent_id, refetch_orders),
            units.c.state == "placed",
            hosts.c.group_id.is_not(None),
        )
        .group_by(refetch_orders.c.unit_id, hosts.c.group_id)
        .order_by(refetch_orders.c.unit_id)
        .limit(limit),
    )


def set_granted(tx: Transaction, agent_id: int, unit_ids: Collection[int], now_ms: int) -> None:
    """Note that an agent was given the pages of some units to fetch."""
    work_orders.set_granted(tx, refetch_orders, agent_id, unit_ids, now_ms)


def urls_listed(tx: Transaction, agent_id: int, unit_ids: Collection[int]) -> dict[int, list[str]]:
    """Return the URLs that an agent may refetch by its rights to some units, by unit.

    Also those that it has logged since: the order stays unchanged.
    """
    query = (
        sa.select(refetch_orders.c.unit_id, refetch_pages.c.url)
        .join(refetch_pages, refetch_pages.c.id == refetch_orders.c.page_id)
        .join(rights, rights.c.unit_id == refetch_orders.c.unit_id)
        .where(
            refetch_orders.c.agent_id == agent_id,
            rights.c.agent_id == agent_id,
            rights.c.kind == "refetch",
            refetch_orders.c.granted_ms == rights.c.granted_ms,
        )
        .order_by(refetch_orders.c.id)
    )
    found: dict[int, list[str]] = {}
    for row in tx.among(query, refetch_orders.c.unit_id, unit_ids):
        found.setdefault(row.unit_id, []).append(row.url)
    return found


def granted_units(tx: Transaction) -> list[int]:
    """Return the units of which an agent refetches pages now."""
    return tx.values(
        sa.select(refetch_orders.c.unit_id).where(refetch_orders.c.state == "granted").distinct()
    )


def finish(
    tx: Transaction, agent_id: int, finished: Sequence[tuple[int, Message | str]], now_ms: int
) -> None:
    """Note that an agent is through with units (with what it said); its log is still to come."""
    rows = [{"unit_id": unit, "reason": reason} for unit, reason in finished]
    c = refetch_orders.c
    open_of_agent = c.agent_id == agent_id, any_of(c.state, "waiting", "granted")
    ended = {"state": "finished", "finished_ms": now_ms}
    tx.update_each(refetch_orders, ["unit_id"], rows, *open_of_agent, **ended)


def set_results(tx: Transaction, agent_id: int, seen: Sequence[Refetched]) -> list[int]:
    """Enter pages of an agent's log; return those with a waiting order."""
    of_url = {page.url: page for page in seen}
    touched: list[int] = []
    for part in chunks(of_url):
        rows = tx.execute(
            sa.select(refetch_orders.c.id, refetch_orders.c.page_id, refetch_pages.c.url)
            .join(refetch_pages, refetch_pages.c.id == refetch_orders.c.page_id)
            .where(
                refetch_orders.c.agent_id == agent_id,
                refetch_orders.c.state.in_(work_orders.OPEN),
                refetch_pages.c.url.in_(part),
            )
        ).all()
        for row in rows:
            page = of_url[row.url]
            tx.execute(
                refetch_orders.update()
                .where(refetch_orders.c.id == row.id)
                .values(state="done", status=page.status, response_bytes=page.response_bytes)
            )
            touched.append(row.page_id)
    return touched


def fail(tx: Transaction, order_ids: Collection[int], reason: Message) -> None:
    """Fail orders that are still open."""
    failing = refetch_orders.update().where(refetch_orders.c.state.in_(work_orders.OPEN))
    tx.changed_among(failing.values(state="failed", reason=reason), refetch_orders.c.id, order_ids)


def agents_waiting(tx: Transaction) -> list[int]:
    """Return the agents that have orders which they were not given yet."""
    return work_orders.agents_waiting(tx, refetch_orders)


def agents_with_open(tx: Transaction) -> list[int]:
    """Return the agents that have pages to fetch again, or to log."""
    return work_orders.agents_with_open(tx, refetch_orders)


def overdue(
    tx: Transaction, agent_id: int, state: str, before_ms: int, limit: int
) -> list[OrderRow]:
    """Return orders of an agent that have been in a state since before a moment."""
    since = {"waiting": "ordered_ms", "granted": "granted_ms", "finished": "finished_ms"}[state]
    c = refetch_orders.c
    query = sa.select(refetch_orders).where(c.agent_id == agent_id, c.state == state)
    return tx.rows(OrderRow, query.where(c[since] < before_ms).limit(limit))


def orders_of_pages(tx: Transaction, page_ids: Collection[int]) -> dict[int, list[OrderRow]]:
    """Return all orders for some pages, by page."""
    found: dict[int, list[OrderRow]] = {page: [] for page in page_ids}
    query = sa.select(refetch_orders).order_by(refetch_orders.c.id)
    for row in tx.rows_among(OrderRow, query, refetch_orders.c.page_id, page_ids):
        found[row.page_id].append(row)
    return found
