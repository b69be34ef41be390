"""Rounds; their units are `round_units`'s."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import metadata, rounds
from manager.db.transaction import Transaction, newest_first
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "RoundRow",
    "add",
    "by_number",
    "last_number",
    "newest",
    "open_round",
    "renumber",
    "update",
]


@message_fields
@frozen
class RoundRow:
    """All that is kept of a round."""

    number: int
    method: str
    state: str
    probe: bool
    seed: int
    started_by: str
    started_ms: int
    verified_ms: int | None
    crawling_ms: int | None
    finished_ms: int | None
    reason: Message | None
    plan_id: int | None
    makespan_ms: int | None
    makespan_agent: str
    elapsed_ms: int | None
    refetch_ms: int | None
    plan_moves: float | None


_COLUMNS = [rounds.c[name] for name in RoundRow.__dataclass_fields__]

_OPEN: Final = sa.select(*_COLUMNS).where(rounds.c.open == 1)
_LAST_NUMBER: Final = sa.select(sa.func.coalesce(sa.func.max(rounds.c.number), 0))


def open_round(tx: Transaction) -> RoundRow | None:
    """Return the open round, or None."""
    return tx.row(RoundRow, _OPEN)


def by_number(tx: Transaction, number: int) -> RoundRow | None:
    """Return a round."""
    return tx.row(RoundRow, sa.select(*_COLUMNS).where(rounds.c.number == number))


def newest(tx: Transaction, limit: int, before: int | None = None) -> list[RoundRow]:
    """Return rounds, newest first; before: of lesser numbers only."""
    return tx.rows(RoundRow, newest_first(sa.select(*_COLUMNS), rounds.c.number, limit, before))


def last_number(tx: Transaction) -> int:
    """Return the number of the newest round; 0: there was none."""
    return int(tx.value(_LAST_NUMBER))


def renumber(tx: Transaction, old: int, new: int) -> None:
    """Give a round a number that was never announced, in all tables."""
    tx.execute(rounds.update().where(rounds.c.number == old).values(number=new))
    for table in metadata.sorted_tables:
        for name in ("round", "volume_round"):
            if name in table.c:
                tx.execute(table.update().where(table.c[name] == old).values({name: new}))


def add(tx: Transaction, **values: Any) -> None:
    """Add an open round."""
    tx.insert(rounds, [{**values, "open": 1}])


def update(tx: Transaction, number: int, **values: Any) -> None:
    """Set columns of a round; a state sets whether it is still open."""
    if "state" in values:
        values["open"] = 1 if values["state"] in ("probing", "crawling") else None
    tx.execute(rounds.update().where(rounds.c.number == number).values(**values))
