"""Schedules: crontab lines, their next times, and the outcome of the last run.

The two uses have separate tables, with the same columns for the clock: starts of rounds, and
orders to agents to send segments.
"""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

import sqlalchemy as sa

from manager.db.tables import agents, collection_schedules, round_schedules
from manager.db.transaction import Transaction
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["COLLECTIONS", "ROUNDS", "CollectionSchedule", "RoundSchedule", "Schedule", "Schedules"]


@message_fields
@frozen
class Schedule:
    """A crontab line in a zone."""

    id: int
    crontab: str
    zone: str
    made_by: str
    made_ms: int
    next_ms: int
    last_ms: int | None
    last_result: Message | None


@message_fields
@frozen
class RoundSchedule(Schedule):
    """The rounds that begin by it."""

    method: str
    probe: bool
    plan_moves: float | None
    until_s: int | None
    until_share: float | None


@message_fields
@frozen
class CollectionSchedule(Schedule):
    """Selection of segments of a schedule, for one agent or for all without their own."""

    agent_id: int | None
    agent: str | None
    condition: str
    way: str
    from_ms: int | None
    until_ms: int | None


Row = TypeVar("Row", bound=Schedule)


class Schedules(Generic[Row]):
    """The schedules of one use."""

    def __init__(self, kind: type[Row], table: sa.Table, rows: sa.Select[Any]) -> None:
        """rows: the query for all of them, as `kind` has them."""
        self._kind = kind
        self._table = table
        self._rows = rows
        self._in_order = rows.order_by(table.c.next_ms, table.c.id)

    def add(self, tx: Transaction, **values: Any) -> Row:
        """Keep a schedule."""
        made = self.by_id(tx, tx.add(self._table, **values))
        assert made is not None, "it was added a moment ago"
        return made

    def all(self, tx: Transaction) -> list[Row]:
        """Return all schedules, the next to run first."""
        return tx.rows(self._kind, self._in_order)

    def by_id(self, tx: Transaction, number: int) -> Row | None:
        """Return a schedule."""
        return tx.row(self._kind, self._rows.where(self._table.c.id == number))

    def update(self, tx: Transaction, number: int, **values: Any) -> None:
        """Set columns of a schedule."""
        tx.execute(self._table.update().where(self._table.c.id == number).values(**values))

    def remove(self, tx: Transaction, number: int) -> int:
        """Forget a schedule; return how many there were."""
        return tx.changed(self._table.delete().where(self._table.c.id == number))


ROUNDS: Final = Schedules(RoundSchedule, round_schedules, sa.select(round_schedules))
COLLECTIONS: Final = Schedules(
    CollectionSchedule,
    collection_schedules,
    sa.select(collection_schedules, agents.c.name.label("agent")).join(
        agents, agents.c.id == collection_schedules.c.agent_id, isouter=True
    ),
)
