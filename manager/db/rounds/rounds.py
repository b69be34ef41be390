"""Rounds; their units are `round_units`'s."""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import metadata, rounds, unit_rounds
from manager.db.transaction import Transaction, newest_first
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "RoundRow",
    "add",
    "by_number",
    "last_announced",
    "last_number",
    "live_numbers",
    "newest",
    "open_round",
    "open_rounds",
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
    until_ms: int | None = None
    until_share: float | None = None
    carried_ms: int | None = None
    predicted_ms: int | None = None
    eta_ms: int | None = None
    eta_made_ms: int | None = None
    eta_error: float | None = None
    probe_steps: int = 0


_COLUMNS = [rounds.c[name] for name in RoundRow.__dataclass_fields__]

_OPEN: Final = (
    sa.select(*_COLUMNS).where(rounds.c.open.is_not(None)).order_by(rounds.c.number.desc())
)
_NEWEST_OPEN: Final = _OPEN.limit(1)
_LAST_NUMBER: Final = sa.select(sa.func.coalesce(sa.func.max(rounds.c.number), 0))
_LAST_OF_UNITS: Final = sa.select(sa.func.coalesce(sa.func.max(unit_rounds.c.round), 0))


def open_round(tx: Transaction) -> RoundRow | None:
    """Return the newest open round, or None."""
    return tx.row(RoundRow, _NEWEST_OPEN)


def open_rounds(tx: Transaction) -> list[RoundRow]:
    """Return the open rounds, oldest first; only the newest may still probe."""
    return tx.rows(RoundRow, _OPEN)[::-1]


def by_number(tx: Transaction, number: int) -> RoundRow | None:
    """Return a round."""
    return tx.row(RoundRow, sa.select(*_COLUMNS).where(rounds.c.number == number))


def newest(tx: Transaction, limit: int, before: int | None = None) -> list[RoundRow]:
    """Return rounds, newest first; before: of lesser numbers only."""
    return tx.rows(RoundRow, newest_first(sa.select(*_COLUMNS), rounds.c.number, limit, before))


def last_number(tx: Transaction) -> int:
    """Return the number of the newest round; 0: there was none."""
    return int(tx.value(_LAST_NUMBER))


def live_numbers(tx: Transaction) -> list[int]:
    """Return the numbers of the open rounds, and of one to come that units were carried into."""
    numbers = [row.number for row in open_rounds(tx)]
    announced = int(tx.value(_LAST_OF_UNITS))
    return [*numbers, announced] if announced > last_number(tx) else numbers


def last_announced(tx: Transaction) -> int:
    """Return the greatest number that agents know: units may be carried into a round to come."""
    return max(last_number(tx), int(tx.value(_LAST_OF_UNITS)))


def renumber(tx: Transaction, old: int, new: int) -> None:
    """Give a round a number that was never announced, in all tables."""
    numbered = rounds.update().where(rounds.c.number == old)
    tx.execute(numbered.where(rounds.c.open.is_not(None)).values(open=new))
    tx.execute(numbered.values(number=new))
    for table in metadata.sorted_tables:
        for name in ("round", "volume_round"):
            if name in table.c:
                tx.execute(table.update().where(table.c[name] == old).values({name: new}))


def add(tx: Transaction, **values: Any) -> None:
    """Add an open round."""
    tx.insert(rounds, [{**values, "open": values["number"]}])


def update(tx: Transaction, number: int, **values: Any) -> None:
    """Set columns of a round; a state sets whether it is still open."""
    if "state" in values:
        values["open"] = number if values["state"] in ("probing", "crawling") else None
    tx.execute(rounds.update().where(rounds.c.number == number).values(**values))
