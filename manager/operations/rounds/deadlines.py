"""Deadlines of rounds: what is left is carried over into the next round.

A deadline is a moment, or a share of the units that are finished. An agent continues a unit that
is carried over, and keeps its queue: only the round changes for which it fetches. Where no next
round has begun, that is the one to come. An agent that cannot be told so begins the unit again.
A round whose rest was carried over ends when the logs of its agents are in, or have had the time to
come.

Invariant: what a round has is complete before it ends: nothing that is fetched after its deadline
is booked to it, but the requests under way when its agent takes the next list.
"""

from __future__ import annotations

from typing import Any, Final

from manager.db.engine import Database, Transaction
from manager.db.hosts import hosts
from manager.db.ownership import rights
from manager.db.planning import probes
from manager.db.rounds import round_units, rounds
from manager.db.rounds.rounds import RoundRow
from manager.operations.actor import CLOCK, Actor, note
from manager.operations.planning.requested_probes import next_round
from shared.errors import FormatError
from shared.messages import Message

__all__ = ["DAYS_MOST", "carry_over", "carry_round", "check_deadline", "drop_blocked_probes"]

DAYS_MOST: Final = 400
DAY_MS: Final = 86_400_000
CARRIED: Final = Message("rounds.carried")
TOO_LATE: Final = Message("rounds.deadline_in_probing")


def check_deadline(until_ms: int | None, until_share: float | None, now_ms: int) -> None:
    """Refuse a deadline that is over, is too far away, or is no share. Raises FormatError."""
    if until_ms is not None and not now_ms < until_ms <= now_ms + DAYS_MOST * DAY_MS:
        raise FormatError(
            "rounds.bad_deadline", until_ms=until_ms, now_ms=now_ms, days=DAYS_MOST
        ).about("until")
    if until_share is not None and not 0 < until_share <= 1:
        raise FormatError("rounds.bad_share", share=until_share).about("until_share")


def carry_over(db: Database, now_ms: int) -> int:
    """Carry over what is left of rounds whose deadline has come; return how many units."""
    with db.read() as tx:
        due = [row.number for row in rounds.open_rounds(tx) if _is_due(tx, row, now_ms)]
    carried = 0
    for number in due:
        with db.write() as tx:
            row = rounds.by_number(tx, number)
            if row is not None and _is_due(tx, row, now_ms):
                carried += carry_round(tx, row, CLOCK, now_ms)
    return carried


def carry_round(tx: Transaction, row: RoundRow, actor: Actor, now_ms: int) -> int:
    """Carry over what is left of a round; return how many units. One that still probes ends."""
    if row.state == "probing":
        probes.fail_round(tx, row.number, TOO_LATE)
        rights.withdraw_crawls(tx, row.number, now_ms, TOO_LATE)
        round_units.cancel_units(tx, row.number, TOO_LATE)
        hosts.unplaced_to_idle(tx)
        rounds.update(tx, row.number, state="cancelled", finished_ms=now_ms, reason=TOO_LATE)
        note(tx, now_ms, actor, "round.carry-over", str(row.number), alert=True, reason=TOO_LATE)
        return 0
    newest = rounds.open_round(tx)
    is_newest = newest is None or newest.number == row.number
    target = next_round(tx) if is_newest or newest is None else newest.number
    going_on = rights.carry_over(tx, row.number, target, now_ms, CARRIED)
    carried = round_units.carry_all(tx, row.number, now_ms)
    round_units.carry_into(tx, target, going_on)
    rounds.update(tx, row.number, carried_ms=now_ms)
    done: dict[str, Any] = {"units": carried, "going_on": len(going_on), "into": target}
    note(tx, now_ms, actor, "round.carry-over", str(row.number), **done)
    return carried


def drop_blocked_probes(db: Database) -> int:
    """Give up probes of the round that probes where a crawl runs, so that it waits for none.

    The unit stays with the agent that crawls it, so its distance decides nothing. Returns how many.
    """
    with db.read() as tx:
        newest = rounds.open_round(tx)
        if newest is None or not _may_be_blocked(tx, newest):
            return 0
    with db.write() as tx:
        newest = rounds.open_round(tx)
        return 0 if newest is None else drop_blocked(tx, newest)


def drop_blocked(tx: Transaction, newest: RoundRow) -> int:
    """Do `drop_blocked_probes` in a transaction of the caller's."""
    if not _may_be_blocked(tx, newest):
        return 0
    return probes.drop_blocked(tx, newest.number, Message("planning.crawl_goes_on"))


def _may_be_blocked(tx: Transaction, newest: RoundRow) -> bool:
    return newest.state == "probing" and any(
        round_units.any_unfinished(tx, number) for number in rounds.live_numbers(tx)
    )


def _is_due(tx: Transaction, row: RoundRow, now_ms: int) -> bool:
    if row.state not in ("probing", "crawling") or row.carried_ms is not None:
        return False
    if row.until_ms is not None and now_ms >= row.until_ms:
        return True
    if row.until_share is None or row.state != "crawling":
        return False
    counts = round_units.counts_of(tx, row.number)
    done = sum(counts.get(state, 0) for state in round_units.OVER)
    left = sum(counts.get(state, 0) for state in round_units.UNFINISHED)
    return bool(left) and done >= row.until_share * (done + left)
