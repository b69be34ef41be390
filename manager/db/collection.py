"""When agents are to send what they collected: schedules, and the orders made from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from manager.db.engine import Transaction
from manager.db.tables import agents, collection_orders, collection_schedules

__all__ = [
    "CollectionSchedule",
    "ListedOrder",
    "OrderRow",
    "add_order",
    "add_schedule",
    "all_schedules",
    "last_success_ms",
    "list_orders",
    "open_orders",
    "order_by_id",
    "remove_schedule",
    "schedule_by_id",
    "update_order",
    "update_schedule",
]


@dataclass(frozen=True, slots=True)
class CollectionSchedule:
    """A crontab line in a zone, for one agent or for all that have none of their own."""

    id: int
    agent_id: int | None
    agent: str | None
    crontab: str
    zone: str
    condition: str
    way: str
    from_ms: int | None
    until_ms: int | None
    made_by: str
    made_ms: int
    next_ms: int
    last_ms: int | None
    last_result: str


@dataclass(frozen=True, slots=True)
class OrderRow:
    """What an agent is asked to send, and what became of it."""

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
    result: str


@dataclass(frozen=True, slots=True)
class ListedOrder(OrderRow):
    """An order as people look at it."""

    agent: str


_SCHEDULES = sa.select(collection_schedules, agents.c.name.label("agent")).join(
    agents, agents.c.id == collection_schedules.c.agent_id, isouter=True
)


def add_schedule(tx: Transaction, **values: Any) -> int:
    """Keep a schedule; return its number."""
    query = collection_schedules.insert().values(**values).returning(collection_schedules.c.id)
    return int(tx.execute(query).scalar_one())


def all_schedules(tx: Transaction) -> list[CollectionSchedule]:
    """Return all schedules, the next to run first."""
    order = (collection_schedules.c.next_ms, collection_schedules.c.id)
    return tx.rows(CollectionSchedule, _SCHEDULES.order_by(*order))


def schedule_by_id(tx: Transaction, number: int) -> CollectionSchedule | None:
    """Return a schedule."""
    return tx.row(CollectionSchedule, _SCHEDULES.where(collection_schedules.c.id == number))


def update_schedule(tx: Transaction, number: int, **values: Any) -> None:
    """Set columns of a schedule."""
    table = collection_schedules
    tx.execute(table.update().where(table.c.id == number).values(**values))


def remove_schedule(tx: Transaction, number: int) -> int:
    """Forget a schedule; return how many there were."""
    return tx.changed(collection_schedules.delete().where(collection_schedules.c.id == number))


def add_order(tx: Transaction, **values: Any) -> int:
    """Keep an order; return its number."""
    query = collection_orders.insert().values(**values).returning(collection_orders.c.id)
    return int(tx.execute(query).scalar_one())


def order_by_id(tx: Transaction, number: int) -> OrderRow | None:
    """Return an order."""
    return tx.row(OrderRow, sa.select(collection_orders).where(collection_orders.c.id == number))


def open_orders(tx: Transaction, agent_ids: Iterable[int]) -> list[OrderRow]:
    """Return what some agents were asked and have not answered, oldest first."""
    query = sa.select(collection_orders).where(
        collection_orders.c.agent_id.in_(list(agent_ids)), collection_orders.c.state == "open"
    )
    return tx.rows(OrderRow, query.order_by(collection_orders.c.id))


def last_success_ms(tx: Transaction, agent_id: int) -> int | None:
    """Return when the newest order that an agent carried out whole was made."""
    query = sa.select(sa.func.max(collection_orders.c.made_ms)).where(
        collection_orders.c.agent_id == agent_id, collection_orders.c.state == "done"
    )
    found = tx.value(query)
    return None if found is None else int(found)


def update_order(tx: Transaction, number: int, **values: Any) -> None:
    """Set columns of an order."""
    tx.execute(collection_orders.update().where(collection_orders.c.id == number).values(**values))


def list_orders(tx: Transaction, *, agent: str = "", limit: int) -> list[ListedOrder]:
    """Return orders, newest first."""
    query = (
        sa.select(collection_orders, agents.c.name.label("agent"))
        .join(agents, agents.c.id == collection_orders.c.agent_id)
        .order_by(collection_orders.c.id.desc())
        .limit(limit)
    )
    if agent:
        query = query.where(agents.c.name == agent)
    return tx.rows(ListedOrder, query)
