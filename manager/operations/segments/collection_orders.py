"""Collection orders to agents, and their outcome.

Invariant: an order is repeated in each sync until the agent reported its end; what it reports twice
changes nothing. Orders by the clock are left to `collection_schedules`.
Source: seed 004, section 5.4.1, points 2 to 5.
"""

from __future__ import annotations

from typing import Any, Final, get_args

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.segments import collection_orders
from manager.db.segments.collection_orders import ListedOrder, OrderRow
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.identity.enrolment import AgentIdentity, agent_named
from shared.errors import FormatError, about_field, check_choice
from shared.frozen import frozen, values_of
from shared.messages import Message
from shared.messages.received import received_message
from shared.wire.sync import CollectionCondition, CollectionOrder, OrderReport
from shared.wire.sync_json import message_of

__all__ = [
    "CONDITIONS",
    "STATES",
    "AskedAll",
    "ListedOrder",
    "NewCollection",
    "cancel_order",
    "collect_all_now",
    "collect_now",
    "list_orders",
    "open_orders",
    "order_in",
    "order_message",
    "report_order",
]

CONDITIONS: Final[tuple[str, ...]] = get_args(CollectionCondition)
STATES: Final = ("open", "done", "failed", "cancelled")
ENDS: Final = {"done": "collection.complete-order", "failed": "collection.fail-order"}
"""Actions in the audit by the state that an agent reports."""
ORDERS_MOST: Final = 20


@frozen
class NewCollection:
    """Selection of segments to send. since needs from_ms; period needs both, in order."""

    condition: str = "difference"
    way: str = "push"
    from_ms: int | None = None
    until_ms: int | None = None

    def check(self) -> None:
        """Raise FormatError where it asks for nothing that can be sent."""
        with about_field("condition"):
            check_choice("condition", self.condition, CONDITIONS)
        if self.way not in ("push", "pull"):
            raise FormatError("segments.unknown_way", value=self.way[:40])
        wanted = {"since": (True, False), "period": (True, True)}.get(
            self.condition, (False, False)
        )
        if wanted != (self.from_ms is not None, self.until_ms is not None):
            wrong = FormatError("segments.condition_days", condition=self.condition)
            raise wrong.about("condition")
        if self.condition == "period" and (self.from_ms or 0) >= (self.until_ms or 0):
            raise FormatError("segments.empty_period").about("end")


@frozen
class AskedAll:
    """Outcome of a collection order; skipped: agents that have too many open orders."""

    asked: int
    skipped: int


def collect_now(
    db: Database, agent: str, asked: NewCollection, actor: Actor, now_ms: int
) -> ListedOrder:
    """Ask an agent to send now; it hears of it with its next sync.

    Raises NotFoundError, FormatError, ConflictError (it is plain and hears of nothing, or has too
    many orders).
    """
    asked.check()
    with db.write() as tx:
        with about_field("agent"):
            row = agent_named(tx, agent)
        if row.is_plain:
            raise ConflictError("segments.plain_agent", agent=agent).about("agent")
        if row.retired_ms is not None:
            raise ConflictError("segments.retired_agent", agent=agent).about("agent")
        if len(collection_orders.open_orders(tx, [row.id])) >= ORDERS_MOST:
            too_many = ConflictError("segments.too_many_orders", agent=agent, orders=ORDERS_MOST)
            raise too_many.about("agent")
        number = order_in(tx, row.id, None, asked, actor.name, now_ms)
        wanted: dict[str, Any] = {"condition": asked.condition, "way": asked.way}
        note(tx, now_ms, actor, "collection.order", agent, order=number, **wanted)
        return next(one for one in collection_orders.list_orders(tx, limit=1) if one.id == number)


def collect_all_now(db: Database, asked: NewCollection, actor: Actor, now_ms: int) -> AskedAll:
    """Ask all agents that hear of orders to send now, but those with too many open ones.

    Raises FormatError, ConflictError (there is no agent to ask).
    """
    asked.check()
    with db.write() as tx:
        held = collection_orders.count_open(tx)
        able = [one.id for one in agents.named(tx) if not (one.is_plain or one.is_retired)]
        free = [number for number in able if held.get(number, 0) < ORDERS_MOST]
        if not able:
            raise ConflictError("segments.no_agent_for_orders")
        if not free:
            raise ConflictError("segments.too_many_orders_each", orders=ORDERS_MOST)
        for number in free:
            order_in(tx, number, None, asked, actor.name, now_ms)
        done = AskedAll(len(free), len(able) - len(free))
        note(
            tx,
            now_ms,
            actor,
            "collection.order",
            "all agents",
            agents=done.asked,
            skipped=done.skipped,
            condition=asked.condition,
            way=asked.way,
        )
        return done


def cancel_order(db: Database, number: int, actor: Actor, now_ms: int) -> None:
    """Ask an agent no more for what it has not sent. Raises NotFoundError, ConflictError."""
    with db.write() as tx:
        row = collection_orders.order_by_id(tx, number)
        if row is None:
            raise NotFoundError("segments.unknown_order", order=number, see="collect orders")
        if row.state != "open":
            raise ConflictError("segments.order_ended", order=number, state=row.state)
        result = Message("general.cancelled_by", name=actor.name)
        collection_orders.update_order(
            tx, number, state="cancelled", ended_ms=now_ms, result=result
        )
        note(tx, now_ms, actor, "collection.cancel-order", str(number))


def list_orders(
    db: Database, *, agent: str = "", state: str = "", before: int | None = None, limit: int = 100
) -> list[ListedOrder]:
    """Return orders, newest first, before a number; of one agent, in one state of `STATES`."""
    with db.read() as tx:
        return collection_orders.list_orders(
            tx, agent=agent, state=state, before=before, limit=limit
        )


def open_orders(db: Database) -> int:
    """Return how many orders agents have not answered."""
    with db.read() as tx:
        return sum(collection_orders.count_open(tx).values())


def order_message(order: OrderRow) -> CollectionOrder:
    """Return an order as a sync is answered with it."""
    return message_of(
        CollectionOrder,
        {
            "id": order.id,
            "condition": order.condition,
            "way": order.way,
            "from_ms": order.from_ms,
            "until_ms": order.until_ms,
        },
    )


def report_order(
    db: Database, agent: AgentIdentity, number: int, report: OrderReport, now_ms: int
) -> None:
    """Take note of how far an agent is with an order. Raises NotFoundError."""
    with db.write() as tx:
        row = collection_orders.order_by_id(tx, number)
        if row is None or row.agent_id != agent.id:
            raise NotFoundError("segments.order_of_other_agent", order=number, agent=agent.name)
        if row.state != "open":
            return
        over = report.state != "open"
        collection_orders.update_order(
            tx,
            number,
            state=report.state,
            tries=report.tries,
            next_try_ms=None if over else report.next_try_ms,
            segments=report.segments,
            sent_bytes=report.sent_bytes,
            reported_ms=now_ms,
            ended_ms=now_ms if over else None,
            result=received_message(report.result_message, report.result),
        )
        if over:
            note(
                tx,
                now_ms,
                agent.actor,
                ENDS[report.state],
                str(number),
                alert=report.state == "failed",
                segments=report.segments,
                sent_bytes=report.sent_bytes,
                result=report.result[:500],
            )


def order_in(
    tx: Transaction,
    agent_id: int,
    schedule_id: int | None,
    asked: NewCollection,
    made_by: str,
    now_ms: int,
) -> int:
    """Ask an agent for something, in a transaction; return the order's number."""
    return collection_orders.add_order(
        tx,
        agent_id=agent_id,
        schedule_id=schedule_id,
        **values_of(asked),
        made_by=made_by,
        made_ms=now_ms,
        state="open",
    )
