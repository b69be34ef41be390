"""Agents are asked to send by the clock.

An agent has one open order of a schedule at most: a time at which the last one is still open is
skipped, because that one brings the same. One that was missed is made up for.
Source: seed 004, section 5.4.1, points 1 and 2.
"""

from __future__ import annotations

from typing import Final

from manager.db import agents, collection
from manager.db.engine import Database, Transaction
from manager.db.schedules import COLLECTIONS, CollectionSchedule
from manager.operations.actor import Actor
from manager.operations.collection_orders import NewCollection, agent_named, order_in
from manager.operations.timetables import Scheduled, Timetable
from manager.schedules import Crontab

__all__ = ["TIMETABLE", "add_collection_schedule", "start_collections"]

TIMETABLE: Final = Timetable(
    COLLECTIONS, "collection.schedule", "collection.unschedule", 1000, "collect schedule"
)


def add_collection_schedule(
    db: Database,
    agent: str | None,
    crontab: str,
    zone: str,
    asked: NewCollection,
    actor: Actor,
    now_ms: int,
) -> Scheduled[CollectionSchedule]:
    """Let an agent send by the clock; agent None: all that have no schedule of their own.

    Raises FormatError, NotFoundError, ConflictError where there are too many.
    """
    asked.check()
    line = Crontab(crontab, zone)
    with db.write() as tx:
        values = {
            "agent_id": None if agent is None else agent_named(tx, agent).id,
            "condition": asked.condition,
            "way": asked.way,
            "from_ms": asked.from_ms,
            "until_ms": asked.until_ms,
        }
        told = {"condition": asked.condition, "way": asked.way}
        subject = agent or "all agents"
        return TIMETABLE.add(tx, line, actor, now_ms, values, subject=subject, told=told)


def start_collections(db: Database, now_ms: int) -> int:
    """Make the orders that are due; return how many."""
    made = 0

    def ask(tx: Transaction, row: CollectionSchedule, rows: list[CollectionSchedule]) -> str:
        nonlocal made
        asked = _asked_of(tx, row, {one.agent_id for one in rows if one.agent_id is not None})
        wanted = NewCollection(row.condition, row.way, row.from_ms, row.until_ms)
        for agent_id in asked:
            order_in(tx, agent_id, row.id, wanted, f"schedule {row.id}", now_ms)
        made += len(asked)
        return f"asked {len(asked)} agents" if asked else "no agent to ask"

    TIMETABLE.run_due(db, now_ms, ask)
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
