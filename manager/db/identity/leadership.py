"""The leader: one row with an epoch, and the heartbeats of all managers.

Invariant: the epoch rises with each change of the holder, in a write transaction. As those run one
after the other, whoever finds itself in the row at the beginning of a write leads until its end.
"""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.tables import leader, managers
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "LeaderRow",
    "ManagerRow",
    "all_managers",
    "beat",
    "current",
    "forget",
    "has_managers",
    "leads",
    "take",
    "vacate",
]


@frozen
class LeaderRow:
    """The leader. holder: the name of a manager, empty: none. beats: its heartbeats."""

    holder: str
    epoch: int
    since_ms: int | None
    beats: int | None


@frozen
class ManagerRow:
    """A manager that serves the database, or did until it was killed."""

    name: str
    place: str
    version: str
    started_ms: int
    seen_ms: int


def current(tx: Transaction) -> LeaderRow:
    """Return who leads."""
    query = sa.select(
        leader.c.holder, leader.c.epoch, leader.c.since_ms, managers.c.beats
    ).select_from(leader.outerjoin(managers, managers.c.name == leader.c.holder))
    return tx.row(LeaderRow, query) or LeaderRow("", 0, None, None)


def leads(tx: Transaction, name: str, epoch: int) -> bool:
    """Return whether a manager leads in an epoch."""
    found = tx.value(sa.select(leader.c.id).where(leader.c.holder == name, leader.c.epoch == epoch))
    return found is not None


def take(tx: Transaction, name: str, now_ms: int) -> int:
    """Make a manager the leader; return its epoch. Who may is decided before, in the same write."""
    epoch = current(tx).epoch + 1
    tx.upsert(leader, [{"id": 1, "holder": name, "epoch": epoch, "since_ms": now_ms}], ["id"])
    return epoch


def beat(tx: Transaction, name: str, place: str, version: str, now_ms: int, dead: str = "") -> None:
    """Give a sign of life. Writes no row but one's own: it need not wait for its turn.

    dead: the manager in whose place this one began; the first sign removes it.
    """
    mine = managers.update().where(managers.c.name == name)
    if tx.changed(mine.values(beats=managers.c.beats + 1, seen_ms=now_ms)):
        return
    tx.execute(managers.delete().where(managers.c.name == dead))
    row = {"name": name, "place": place, "version": version, "beats": 1}
    tx.insert_new(managers, [{**row, "started_ms": now_ms, "seen_ms": now_ms}])


def forget(tx: Transaction, name: str) -> None:
    """Remove a manager that ends, or ended; if it led, there is no leader afterwards."""
    tx.execute(leader.update().where(leader.c.holder == name).values(holder="", since_ms=None))
    tx.execute(managers.delete().where(managers.c.name == name))


def vacate(tx: Transaction) -> None:
    """Vacate the leadership; the epoch stays."""
    tx.execute(leader.update().values(holder="", since_ms=None))


def all_managers(tx: Transaction) -> list[ManagerRow]:
    """Return the managers, the oldest first."""
    return tx.rows(ManagerRow, sa.select(managers).order_by(managers.c.id))


def has_managers(tx: Transaction) -> bool:
    """Return whether the schema knows of managers."""
    return sa.inspect(tx.connection).has_table(managers.name)
