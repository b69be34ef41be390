"""Which managers serve the database, and which leads: who may lead when, and what people see.

The leader gives signs of life. One that gives none for a term, by the clock of who watches, is
replaced; no two clocks are compared. Invariant: a leader is replaced in a write transaction and
with a greater epoch, so what it still begins to write is refused (`check_leading`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from manager.db import clock, leading
from manager.db.engine import Database, Transaction
from manager.db.leading import LeaderRow
from manager.errors import NotLeadingError
from manager.operations.actor import CLOCK, note

__all__ = [
    "LeaderRow",
    "Managers",
    "ServingManager",
    "check_leading",
    "leave",
    "list_managers",
    "live",
    "seen_lately",
    "take_lead",
]

FORGET_MS: Final = 24 * 3_600_000
"""Managers that were killed are shown for a day."""


@dataclass(frozen=True, slots=True)
class ServingManager:
    """A manager, its last sign of life, and whether it leads."""

    name: str
    place: str
    version: str
    started_ms: int
    seen_ms: int
    leads: bool


@dataclass(frozen=True, slots=True)
class Managers:
    """All managers of a database.

    epoch: of the leader. last_tick_ms: None, there was none yet. held_until_ms: after a restore
    nothing is given out before; 0: it is.
    """

    managers: list[ServingManager]
    epoch: int
    since_ms: int | None
    last_tick_ms: int | None
    held_until_ms: int


def live(db: Database, name: str, place: str, version: str, now_ms: int) -> LeaderRow:
    """Give a sign of life, and return who leads. Raises BusyError."""
    with db.aside() as tx:
        leading.beat(tx, name, place, version, now_ms)
    with db.read() as tx:
        return leading.current(tx)


def take_lead(db: Database, name: str, silent: LeaderRow, now_ms: int) -> int | None:
    """Lead in place of who gave no sign of life; return the epoch, or None: something changed.

    silent: as it was seen all the time.
    """
    with db.write() as tx:
        if leading.current(tx) != silent:
            return None
        epoch = leading.take(tx, name, now_ms)
        if silent.holder:
            note(tx, now_ms, CLOCK, "manager.lead", name, epoch=epoch, instead_of=silent.holder)
    return epoch


def check_leading(tx: Transaction, name: str, epoch: int) -> None:
    """Raise NotLeadingError unless a manager leads in this epoch; at the beginning of a write."""
    if not leading.leads(tx, name, epoch):
        raise NotLeadingError(
            f"another manager leads since epoch {leading.current(tx).epoch}; this one led in "
            f"epoch {epoch}, and nothing was changed"
        )


def leave(db: Database, name: str, now_ms: int) -> None:
    """Lead no more and serve no more, so that another may lead at once."""
    with db.write() as tx:
        leading.forget(tx, name, now_ms - FORGET_MS)


def list_managers(db: Database) -> Managers:
    """Return all managers that serve, or did within the last day and were killed."""
    with db.read() as tx:
        leader = leading.current(tx)
        rows = leading.all_managers(tx)
        last_ms = clock.last_tick(tx)
        held_until_ms = clock.held_until(tx)
    return Managers(
        [
            ServingManager(
                row.name,
                row.place,
                row.version,
                row.started_ms,
                row.seen_ms,
                row.name == leader.holder,
            )
            for row in rows
        ],
        leader.epoch,
        leader.since_ms,
        last_ms,
        held_until_ms,
    )


def seen_lately(db: Database, since_ms: int) -> list[str]:
    """Return the places of managers that gave a sign of life since a moment, of any schema."""
    with db.read() as tx:
        if not leading.has_managers(tx):
            return []
        return [row.place for row in leading.all_managers(tx) if row.seen_ms >= since_ms]
