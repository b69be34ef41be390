"""Managers of one database: heartbeats, leadership, and their list for people.

The leader gives signs of life. One that gives none for a term, by the clock of the observer, is
replaced; no two clocks are compared. Invariant: a leader is replaced in a write transaction and
with a greater epoch, so writes that it still begins are refused (`check_leading`).
A killed manager stays known until it begins again in its place, or a person removes it: if only one
of two managers is left, an alert notifies people (`alerts`).
"""

from __future__ import annotations

from typing import Final

from manager.assignment.permits import manager_time
from manager.db.engine import Database, Transaction
from manager.db.identity import installation, leadership
from manager.db.identity.leadership import LeaderRow, ManagerRow
from manager.db.rounds import tick_clock
from manager.errors import ConflictError, NotFoundError, NotLeadingError
from manager.operations.actor import CLOCK, Actor, note
from shared.frozen import frozen, values_of

__all__ = [
    "LeaderRow",
    "Managers",
    "ServingManager",
    "check_leading",
    "forget_manager",
    "leave",
    "list_managers",
    "live",
    "managers_of",
    "seen_lately",
    "take_lead",
]

SILENT_MS: Final = 600_000
"""A manager silent for so long does not serve: a restart or a network outage takes less."""
SERVES_MS: Final = 60_000
APART_MS: Final = 60_000
"""A sign of life is no later after the last tick, whatever the clock of who gives it says."""


@frozen
class ServingManager(ManagerRow):
    """A manager, its last sign of life, and whether it leads.

    silent_ms: how long before the leader's newest sign that was; the caller's clock does not count.
    is_silent: so long that it does not serve.
    """

    leads: bool
    silent_ms: int
    is_silent: bool


@frozen
class Managers:
    """All managers of a database.

    epoch: of the leader. last_tick_ms: None, there was none yet. held_until_ms: after a restore
    nothing is granted before; 0: no restriction. installation: the installation id.
    """

    managers: list[ServingManager]
    epoch: int
    since_ms: int | None
    last_tick_ms: int | None
    held_until_ms: int
    installation: str


def live(
    db: Database, name: str, place: str, version: str, now_ms: int, dead: str = ""
) -> LeaderRow:
    """Give a sign of life, and return who leads. Raises BusyError.

    dead: the manager that served in this place before, and certainly ended; empty: none.
    """
    with db.aside() as tx:
        last_ms = tick_clock.last_tick(tx)
        at_ms = now_ms if last_ms is None else manager_time(now_ms, last_ms, APART_MS)
        leadership.beat(tx, name, place, version, at_ms, dead)
    with db.read() as tx:
        return leadership.current(tx)


def take_lead(db: Database, name: str, silent: LeaderRow, now_ms: int) -> int | None:
    """Lead in place of who gave no sign of life; return the epoch, or None: something changed.

    silent: the leader's row, unchanged for the whole term.
    """
    with db.write() as tx:
        if leadership.current(tx) != silent:
            return None
        epoch = leadership.take(tx, name, now_ms)
        if silent.holder:
            note(
                tx,
                now_ms,
                CLOCK,
                "manager.take-leadership",
                name,
                epoch=epoch,
                instead_of=silent.holder,
            )
    return epoch


def check_leading(tx: Transaction, name: str, epoch: int) -> None:
    """Raise NotLeadingError unless a manager leads in this epoch; at the beginning of a write."""
    if not leadership.leads(tx, name, epoch):
        raise NotLeadingError(
            "identity.not_leading", epoch=leadership.current(tx).epoch, own_epoch=epoch
        )


def leave(db: Database, name: str) -> None:
    """Lead no more and serve no more, so that another may lead at once."""
    with db.write() as tx:
        leadership.forget(tx, name)


def forget_manager(db: Database, name: str, actor: Actor, now_ms: int) -> None:
    """Know no more of a manager that was taken away. Raises NotFoundError, ConflictError."""
    with db.write() as tx:
        found = [one for one in managers_of(tx) if one.name == name]
        if not found:
            raise NotFoundError("identity.manager_unknown", manager=name[:253], see="managers")
        if found[0].silent_ms < SERVES_MS:
            raise ConflictError(
                "identity.manager_alive", manager=name, silent_ms=found[0].silent_ms
            )
        leadership.forget(tx, name)
        note(tx, now_ms, actor, "manager.forget", name, place=found[0].place)


def managers_of(tx: Transaction) -> list[ServingManager]:
    """Return all managers that serve, or were killed and have not begun again, the oldest first."""
    holder = leadership.current(tx).holder
    rows = leadership.all_managers(tx)
    newest_ms = max((row.seen_ms for row in rows), default=0)
    now_ms = next((row.seen_ms for row in rows if row.name == holder), newest_ms)
    # A sign in the future is one from before the time of ticks was set back.
    silent = [abs(now_ms - row.seen_ms) for row in rows]
    return [
        ServingManager(
            **values_of(row),
            leads=row.name == holder,
            silent_ms=silent_ms,
            is_silent=silent_ms > SILENT_MS,
        )
        for row, silent_ms in zip(rows, silent, strict=True)
    ]


def list_managers(db: Database) -> Managers:
    """Return all managers that are known, and which leads."""
    with db.read() as tx:
        leader = leadership.current(tx)
        found = managers_of(tx)
        last_ms = tick_clock.last_tick(tx)
        held_until_ms = tick_clock.held_until(tx)
        uuid = installation.installation_of(tx).uuid
    return Managers(found, leader.epoch, leader.since_ms, last_ms, held_until_ms, uuid)


def seen_lately(db: Database, since_ms: int) -> list[str]:
    """Return the places of managers that gave a sign of life since a moment, of any schema."""
    with db.read() as tx:
        if not leadership.has_managers(tx):
            return []
        return [row.place for row in leadership.all_managers(tx) if row.seen_ms >= since_ms]
