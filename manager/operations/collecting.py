"""When agents send what they collected: schedules, the orders made from them, how orders end.

Invariants: a time of a schedule makes at most one order for an agent, whoever ticks, because the
orders and the next time are one transaction. An agent has one open order of a schedule at most: a
time at which the last one is still open is skipped, because that one brings the same. An order is
repeated in each sync until the agent reported its end; what it reports twice changes nothing.
Source: seed 004, section 5.4.1, points 1 to 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, get_args

from manager.db import agents, collection
from manager.db.agents import AgentRow
from manager.db.collection import CollectionSchedule, ListedOrder
from manager.db.engine import Database, Transaction
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.enrolment import AgentIdentity
from manager.schedules import Crontab, ScheduleError
from shared.errors import FormatError
from shared.wire.sync import CollectionCondition, CollectionOrder, OrderReport

__all__ = [
    "CONDITIONS",
    "CollectionRuns",
    "ListedOrder",
    "NewCollection",
    "add_collection_schedule",
    "cancel_order",
    "collect_now",
    "list_collection_schedules",
    "list_orders",
    "orders_for",
    "remove_collection_schedule",
    "report_order",
    "start_collections",
]

CONDITIONS: Final[tuple[str, ...]] = get_args(CollectionCondition)
SCHEDULES_MOST: Final = 1000
ORDERS_MOST: Final = 20
RUNS_SHOWN: Final = 5
LATE_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class NewCollection:
    """What is to be sent. since needs from_ms; period needs both, the first before the second."""

    condition: str = "difference"
    way: str = "push"
    from_ms: int | None = None
    until_ms: int | None = None

    def check(self) -> None:
        """Raise FormatError where it asks for nothing that can be sent."""
        if self.condition not in CONDITIONS:
            raise FormatError(
                f"condition {self.condition[:40]!r}: must be one of {', '.join(CONDITIONS)}"
            )
        if self.way not in ("push", "pull"):
            raise FormatError(f"way {self.way[:40]!r}: must be push or pull")
        wanted = {"since": (True, False), "period": (True, True)}.get(
            self.condition, (False, False)
        )
        if wanted != (self.from_ms is not None, self.until_ms is not None):
            raise FormatError(
                f"condition {self.condition}: since needs a first day, period a first and an end, "
                "full and difference neither"
            )
        if self.condition == "period" and (self.from_ms or 0) >= (self.until_ms or 0):
            raise FormatError("a period must begin before it ends")


@dataclass(frozen=True, slots=True)
class CollectionRuns:
    """A schedule with its next runs in words, in its own zone; where it is broken, why."""

    schedule: CollectionSchedule
    next_runs: list[str]


def add_collection_schedule(
    db: Database,
    agent: str | None,
    crontab: str,
    zone: str,
    asked: NewCollection,
    actor: Actor,
    now_ms: int,
) -> CollectionRuns:
    """Let an agent send by the clock; agent None: all that have no schedule of their own.

    Raises FormatError, NotFoundError, ConflictError where there are too many.
    """
    asked.check()
    line = Crontab(crontab, zone)
    with db.write() as tx:
        row = None if agent is None else _agent(tx, agent)
        if len(collection.all_schedules(tx)) >= SCHEDULES_MOST:
            raise ConflictError(f"there are {SCHEDULES_MOST} schedules already: remove one")
        number = collection.add_schedule(
            tx,
            agent_id=None if row is None else row.id,
            crontab=line.text,
            zone=zone,
            condition=asked.condition,
            way=asked.way,
            from_ms=asked.from_ms,
            until_ms=asked.until_ms,
            made_by=actor.name,
            made_ms=now_ms,
            next_ms=_next_ms(line, now_ms),
        )
        note(
            tx,
            now_ms,
            actor,
            "collection.schedule",
            agent or "all agents",
            schedule=number,
            crontab=line.text,
            zone=zone,
            condition=asked.condition,
            way=asked.way,
        )
        made = collection.schedule_by_id(tx, number)
        assert made is not None, "it was added a moment ago"
    return _shown(made, now_ms)


def remove_collection_schedule(db: Database, number: int, actor: Actor, now_ms: int) -> None:
    """Let nothing be sent by a schedule any more; open orders stay. Raises NotFoundError."""
    with db.write() as tx:
        if not collection.remove_schedule(tx, number):
            raise NotFoundError(f"schedule {number}: there is none; see `prsm collect schedule`")
        note(tx, now_ms, actor, "collection.unschedule", str(number))


def list_collection_schedules(db: Database, now_ms: int) -> list[CollectionRuns]:
    """Return all schedules, the next to run first, with their next five runs."""
    with db.read() as tx:
        return [_shown(row, now_ms) for row in collection.all_schedules(tx)]


def collect_now(
    db: Database, agent: str, asked: NewCollection, actor: Actor, now_ms: int
) -> ListedOrder:
    """Ask an agent to send now; it hears of it with its next sync.

    Raises NotFoundError, FormatError, ConflictError (it is plain and hears of nothing, or has too
    many orders).
    """
    asked.check()
    with db.write() as tx:
        row = _agent(tx, agent)
        if row.is_plain:
            raise ConflictError(
                f"agent {agent} speaks only the five messages, and hears of no order: it sends "
                "its segments itself, by any tus client (docs/protocol.md)"
            )
        if row.retired_ms is not None:
            raise ConflictError(f"agent {agent} was retired and calls no more")
        if len(collection.open_orders(tx, [row.id])) >= ORDERS_MOST:
            raise ConflictError(f"agent {agent} has {ORDERS_MOST} open orders: cancel one")
        number = _order(tx, row.id, None, asked, actor.name, now_ms)
        note(
            tx,
            now_ms,
            actor,
            "collection.order",
            agent,
            order=number,
            condition=asked.condition,
            way=asked.way,
        )
        return next(one for one in collection.list_orders(tx, limit=1) if one.id == number)


def cancel_order(db: Database, number: int, actor: Actor, now_ms: int) -> None:
    """Ask an agent no more for what it has not sent. Raises NotFoundError, ConflictError."""
    with db.write() as tx:
        row = collection.order_by_id(tx, number)
        if row is None:
            raise NotFoundError(f"order {number}: there is none; see `prsm collect orders`")
        if row.state != "open":
            raise ConflictError(f"order {number}: it is {row.state} already")
        collection.update_order(
            tx, number, state="cancelled", ended_ms=now_ms, result=f"{actor.name} cancelled it"
        )
        note(tx, now_ms, actor, "collection.cancel", str(number))


def list_orders(db: Database, *, agent: str = "", limit: int = 100) -> list[ListedOrder]:
    """Return orders, newest first."""
    with db.read() as tx:
        return collection.list_orders(tx, agent=agent, limit=limit)


def orders_for(tx: Transaction, row: AgentRow) -> list[CollectionOrder]:
    """Return what an agent is to send, as its sync is answered."""
    return [
        CollectionOrder.model_validate(
            {
                "id": order.id,
                "condition": order.condition,
                "way": order.way,
                "from_ms": order.from_ms,
                "until_ms": order.until_ms,
            }
        )
        for order in collection.open_orders(tx, [row.id])
    ]


def report_order(
    db: Database, agent: AgentIdentity, number: int, report: OrderReport, now_ms: int
) -> None:
    """Take note of how far an agent is with an order. Raises NotFoundError."""
    with db.write() as tx:
        row = collection.order_by_id(tx, number)
        if row is None or row.agent_id != agent.id:
            raise NotFoundError(f"order {number}: there is none for agent {agent.name}")
        if row.state != "open":
            return
        over = report.state != "open"
        collection.update_order(
            tx,
            number,
            state=report.state,
            tries=report.tries,
            next_try_ms=None if over else report.next_try_ms,
            segments=report.segments,
            sent_bytes=report.sent_bytes,
            reported_ms=now_ms,
            ended_ms=now_ms if over else None,
            result=report.result,
        )
        if over:
            note(
                tx,
                now_ms,
                agent.actor,
                f"collection.{report.state}",
                str(number),
                alert=report.state == "failed",
                segments=report.segments,
                sent_bytes=report.sent_bytes,
                result=report.result[:500],
            )


def start_collections(db: Database, now_ms: int) -> int:
    """Make the orders that are due; return how many."""
    with db.read() as tx:
        if not any(row.next_ms <= now_ms for row in collection.all_schedules(tx)):
            return 0
    made = 0
    with db.write() as tx:
        rows = collection.all_schedules(tx)
        own = {row.agent_id for row in rows if row.agent_id is not None}
        for row in rows:
            if row.next_ms > now_ms:
                continue
            try:
                next_ms = _next_ms(Crontab(row.crontab, row.zone), now_ms)
            except ScheduleError as error:
                # A time zone that this machine has lost: the other schedules go on.
                collection.update_schedule(
                    tx, row.id, next_ms=now_ms + LATE_MS, last_result=str(error)
                )
                continue
            asked = _asked_of(tx, row, own)
            for agent_id in asked:
                wanted = NewCollection(row.condition, row.way, row.from_ms, row.until_ms)
                _order(tx, agent_id, row.id, wanted, f"schedule {row.id}", now_ms)
            made += len(asked)
            collection.update_schedule(
                tx,
                row.id,
                next_ms=next_ms,
                last_ms=now_ms,
                last_result=f"asked {len(asked)} agents" if asked else "no agent to ask",
            )
    return made


def _asked_of(tx: Transaction, row: CollectionSchedule, own: set[int]) -> list[int]:
    """Return the agents that a schedule asks now: those that hear, and have answered its last."""
    able = [
        one.id
        for one in agents.all_agents(tx)
        if not one.is_plain
        and one.retired_ms is None
        and (one.id == row.agent_id if row.agent_id is not None else one.id not in own)
    ]
    busy = {
        order.agent_id for order in collection.open_orders(tx, able) if order.schedule_id == row.id
    }
    return [agent_id for agent_id in able if agent_id not in busy]


def _order(
    tx: Transaction,
    agent_id: int,
    schedule_id: int | None,
    asked: NewCollection,
    made_by: str,
    now_ms: int,
) -> int:
    return collection.add_order(
        tx,
        agent_id=agent_id,
        schedule_id=schedule_id,
        condition=asked.condition,
        way=asked.way,
        from_ms=asked.from_ms,
        until_ms=asked.until_ms,
        made_by=made_by,
        made_ms=now_ms,
        state="open",
    )


def _agent(tx: Transaction, name: str) -> AgentRow:
    row = agents.by_name(tx, name)
    if row is None:
        raise NotFoundError(f"agent {name}: there is none of that name; see `prsm agents`")
    return row


def _next_ms(line: Crontab, now_ms: int) -> int:
    return round(line.next_after(_moment(now_ms)).timestamp() * 1000)


def _moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


def _shown(row: CollectionSchedule, now_ms: int) -> CollectionRuns:
    try:
        runs = Crontab(row.crontab, row.zone).next_runs(_moment(now_ms), RUNS_SHOWN)
    except ScheduleError as error:
        return CollectionRuns(row, [f"never: {error}"])
    return CollectionRuns(row, [f"{run:%A, %-d %B %Y, %H:%M %Z}" for run in runs])
