"""Work that was carried over while no round is open: it counts for the round to come.

To cancel it is to cancel that round before it begins: it becomes a row of the list of rounds, and
the next round has another number. So units that were cancelled start again, and no log line of
theirs is booked to a round that fetches them again.
"""

from __future__ import annotations

from manager.db.engine import Database, Transaction
from manager.db.ownership import rights
from manager.db.rounds import round_units, rounds
from manager.operations.actor import Actor, note
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["CarriedWork", "cancel_carried", "carried_round", "carried_work"]


@frozen
class CarriedWork:
    """Carried units of a round that has not begun. left: those that are not finished."""

    round: int
    units: dict[str, int]
    left: int


def carried_work(db: Database) -> CarriedWork | None:
    """Return the work that agents do for a round to come; None where there is none left."""
    with db.read() as tx:
        number = carried_round(tx)
        if number is None:
            return None
        units = round_units.counts_of(tx, number)
    return CarriedWork(number, units, sum(units.get(state, 0) for state in round_units.UNFINISHED))


def carried_round(tx: Transaction) -> int | None:
    """Return the number of the round to come that agents work for; None where they do not."""
    number = rounds.last_announced(tx)
    if number <= rounds.last_number(tx) or not round_units.any_unfinished(tx, number):
        return None
    return number


def cancel_carried(tx: Transaction, number: int, actor: Actor, now_ms: int, why: Message) -> None:
    """Cancel a round that has not begun, and what agents do for it. What is fetched stays."""
    cancelled = Message("rounds.cancelled")
    began = {"started_by": actor.name, "started_ms": now_ms}
    rounds.add(tx, number=number, method="keep", state="crawling", probe=False, seed=0, **began)
    round_units.cancel_units(tx, number, cancelled)
    rights.withdraw_crawls(tx, number, now_ms, cancelled)
    rounds.update(tx, number, state="cancelled", finished_ms=now_ms, reason=why)
    note(tx, now_ms, actor, "round.cancel", str(number), reason=why, carried=True)
