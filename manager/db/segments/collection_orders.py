"""Collection orders to agents, and their progress."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import agents, collection_orders
from manager.db.transaction import Transaction, newest_first
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "ListedOrder",
    "OrderRow",
    "add_order",
    "count_open",
    "list_orders",
    "open_orders",
    "order_by_id",
    "update_order",
]


@message_fields
@frozen
class OrderRow:
    """A collection order to an agent, and its outcome."""

    id: int
    agent_id: int
    schedule_id: int | None
    condition: str
    way: str
    from_ms: int | None
    until_ms: int | None
    made_by: str
    made_ms: int
    state: str
    tries: int
    next_try_ms: int | None
    segments: int
    sent_bytes: int
    reported_ms: int | None
    ended_ms: int | None
    result: Message | None


@frozen
class ListedOrder(OrderRow):
    """An order as people look at it."""

    agent: str


_OPEN_ORDERS: Final = (
    sa.select(collection_orders)
    .where(
        collection_orders.c.agent_id.in_(sa.bindparam("agents", expanding=True)),
        collection_orders.c.state == "open",
    )
    .order_by(collection_orders.c.id)
)


def add_order(tx: Transaction, **values: Any) -> int:
    """Keep an order; return its number."""
    return tx.add(collection_orders, **values)


def order_by_id(tx: Transaction, number: int) -> OrderRow | None:
    """Return an order."""
    return tx.row(OrderRow, sa.select(collection_orders).where(collection_orders.c.id == number))


def open_orders(tx: Transaction, agent_ids: Iterable[int]) -> list[OrderRow]:
    """Return what some agents were asked and have not answered, oldest first."""
    return tx.rows(OrderRow, _OPEN_ORDERS, {"agents": list(agent_ids)})


def update_order(tx: Transaction, number: int, **values: Any) -> None:
    """Set columns of an order."""
    tx.execute(collection_orders.update().where(collection_orders.c.id == number).values(**values))


def count_open(tx: Transaction) -> dict[int, int]:
    """Return how many orders agents have not answered, by their numbers; none: not in it."""
    return tx.counts(collection_orders.c.agent_id, collection_orders.c.state == "open")


def list_orders(
    tx: Transaction, *, agent: str = "", state: str = "", before: int | None = None, limit: int
) -> list[ListedOrder]:
    """Return orders, newest first, before a number."""
    query = sa.select(collection_orders, agents.c.name.label("agent")).join(
        agents, agents.c.id == collection_orders.c.agent_id
    )
    wanted = (agents.c.name, agent), (collection_orders.c.state, state)
    return tx.rows(ListedOrder, newest_first(query, collection_orders.c.id, limit, before, *wanted))
