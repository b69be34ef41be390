"""Schedules of rounds: when the next one begins, and what became of the last time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from manager.db.engine import Transaction
from manager.db.tables import round_schedules

__all__ = ["ScheduleRow", "add", "all_schedules", "by_id", "remove", "update"]


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """A crontab line in a zone, and the rounds that it begins."""

    id: int
    crontab: str
    zone: str
    method: str
    probe: bool
    plan_moves: float | None
    made_by: str
    made_ms: int
    next_ms: int
    last_ms: int | None
    last_result: str


def add(tx: Transaction, **values: Any) -> int:
    """Keep a schedule; return its number."""
    query = round_schedules.insert().values(**values).returning(round_schedules.c.id)
    return int(tx.execute(query).scalar_one())


def all_schedules(tx: Transaction) -> list[ScheduleRow]:
    """Return all schedules, the next to run first."""
    order = (round_schedules.c.next_ms, round_schedules.c.id)
    return tx.rows(ScheduleRow, sa.select(round_schedules).order_by(*order))


def by_id(tx: Transaction, number: int) -> ScheduleRow | None:
    """Return a schedule."""
    return tx.row(ScheduleRow, sa.select(round_schedules).where(round_schedules.c.id == number))


def update(tx: Transaction, number: int, **values: Any) -> None:
    """Set columns of a schedule."""
    tx.execute(round_schedules.update().where(round_schedules.c.id == number).values(**values))


def remove(tx: Transaction, number: int) -> int:
    """Forget a schedule; return how many there were."""
    return tx.changed(round_schedules.delete().where(round_schedules.c.id == number))
