"""Agents are asked to send by the clock.

An agent has one open order of a schedule at most: a time at which the last one is still open is
skipped, because that one brings the same. One that was missed is made up for.
Source: seed 004, section 5.4.1, points 1 and 2.
"""

from __future__ import annotations

from typing import Any, Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.rounds.schedules import COLLECTIONS, CollectionSchedule
from manager.db.segments import collection_orders
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from manager.operations.identity.enrolment import agent_named
from manager.operations.segments.collection_orders import NewCollection, order_in
from manager.operations.timetables import Scheduled, Timetable
from manager.schedules import Crontab
from shared.errors import about_field
from shared.frozen import values_of
from shared.messages import Message

__all__ = [
    "TIMETABLE",
    "add_collection_schedule",
    "change_collection_schedule",
    "run_collection_schedule",
    "start_collections",
]

WORDS: Final = (
    "collection.add-schedule",
    "collection.change-schedule",
    "collection.remove-schedule",
)
TIMETABLE: Final = Timetable(COLLECTIONS, WORDS, 1000, "collect schedule")


def add_collection_schedule(
    db: Database,
    agent: str | None,
    crontab: str,
    zone: str,
    asked: NewCollection,
    actor: Actor,
    now_ms: int,
) -> Scheduled[CollectionSchedule]:
    """Add a collection schedule; agent None: all that have no separate schedule.

    Raises FormatError, NotFoundError, ConflictError where there are too many.
    """
    asked.check()
    with about_field("crontab"):
        line = Crontab(crontab, zone)
    with db.write() as tx:
        values = _values(tx, agent, asked)
        told = {"condition": asked.condition, "way": asked.way}
        subject = agent or "all agents"
        return TIMETABLE.add(tx, line, actor, now_ms, values, subject=subject, told=told)


def change_collection_schedule(
    db: Database,
    number: int,
    agent: str | None,
    crontab: str,
    zone: str,
    asked: NewCollection,
    actor: Actor,
    now_ms: int,
    *,
    shown_ms: int | None = None,
) -> Scheduled[CollectionSchedule]:
    """Replace a collection schedule; it keeps its number, and its orders stay open.

    shown_ms: when the one was made that the person saw. Raises FormatError, NotFoundError,
    ConflictError (it was changed since).
    """
    asked.check()
    with about_field("crontab"):
        line = Crontab(crontab, zone)
    with db.write() as tx:
        values = _values(tx, agent, asked)
        told = {"agent": agent or "all agents", "condition": asked.condition, "way": asked.way}
        return TIMETABLE.change(
            tx, number, line, actor, now_ms, values, told=told, shown_ms=shown_ms
        )


def run_collection_schedule(db: Database, number: int, actor: Actor, now_ms: int) -> int:
    """Make a schedule's orders now, before their time; return how many agents are asked.

    As by the clock, an agent that has not answered its last order is not asked again. Raises
    NotFoundError, ConflictError (there is no agent to ask).
    """
    made = 0

    def ask(tx: Transaction, row: CollectionSchedule, rows: list[CollectionSchedule]) -> Message:
        """Order a collection by a schedule; return the result."""
        nonlocal made
        made = _ask(tx, row, rows, actor.name, now_ms)
        if not made:
            raise ConflictError("segments.schedule_without_agent", schedule=number)
        return Message("segments.agents_asked", agents=made)

    with db.write() as tx:
        TIMETABLE.run_now(tx, number, now_ms, ask)
        note(tx, now_ms, actor, "collection.run-schedule", str(number), agents=made)
    return made


def _values(tx: Transaction, agent: str | None, asked: NewCollection) -> dict[str, Any]:
    """Return the columns of a schedule. Raises NotFoundError."""
    with about_field("agent"):
        agent_id = None if agent is None else agent_named(tx, agent).id
    return {"agent_id": agent_id, **values_of(asked)}


def start_collections(db: Database, now_ms: int) -> int:
    """Make the orders that are due; return how many."""
    made = 0

    def ask(tx: Transaction, row: CollectionSchedule, rows: list[CollectionSchedule]) -> Message:
        """Order a collection by a schedule; return the result."""
        nonlocal made
        asked = _ask(tx, row, rows, f"schedule {row.id}", now_ms)
        made += asked
        code = "segments.agents_asked" if asked else "segments.no_agent_asked"
        return Message(code, agents=asked)

    TIMETABLE.run_due(db, now_ms, ask)
    return made


def _ask(
    tx: Transaction,
    row: CollectionSchedule,
    rows: list[CollectionSchedule],
    made_by: str,
    now_ms: int,
) -> int:
    """Make the orders of a schedule; return how many. rows: all schedules there are."""
    asked = _asked_of(tx, row, {one.agent_id for one in rows if one.agent_id is not None})
    wanted = NewCollection(row.condition, row.way, row.from_ms, row.until_ms)
    for agent_id in asked:
        order_in(tx, agent_id, row.id, wanted, made_by, now_ms)
    return len(asked)


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
        order.agent_id
        for order in collection_orders.open_orders(tx, able)
        if order.schedule_id == row.id
    }
    return [agent_id for agent_id in able if agent_id not in busy]
