"""Schedules of rounds.

A time at which a round probes, or nothing could be done, is skipped, not kept for later, and
leaves an audit row. A time that was missed by more than an hour, as the manager was away, is
skipped, too.
"""

from __future__ import annotations

from typing import Any, Final

from manager.balancing.balancers import BALANCERS
from manager.db.engine import Database, Transaction
from manager.db.rounds import rounds
from manager.db.rounds.schedules import ROUNDS, RoundSchedule
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from manager.operations.policy import DEFAULT_POLICY, Policy
from manager.operations.rounds.deadlines import check_deadline
from manager.operations.rounds.rounds import check_moves, start_in
from manager.operations.timetables import LATE_MS, Scheduled, Timetable
from manager.schedules import Crontab
from shared.errors import about_field, check_choice
from shared.messages import Message

__all__ = ["TIMETABLE", "add_schedule", "change_schedule", "start_scheduled"]

WORDS: Final = ("round.add-schedule", "round.change-schedule", "round.remove-schedule")
TIMETABLE: Final = Timetable(ROUNDS, WORDS, 100, "rounds schedule")


def add_schedule(
    db: Database,
    crontab: str,
    zone: str,
    method: str,
    actor: Actor,
    now_ms: int,
    *,
    probe: bool = True,
    moves: float | None = None,
    until_s: int | None = None,
    until_share: float | None = None,
) -> Scheduled[RoundSchedule]:
    """Add a schedule of rounds. moves, until_share: as of `start_round`.

    until_s: its rounds have a deadline, so long after they begin.

    Raises FormatError, ConflictError where there are too many.
    """
    line, values, told = _checked(
        crontab, zone, method, probe=probe, moves=moves, until_s=until_s, until_share=until_share
    )
    with db.write() as tx:
        return TIMETABLE.add(tx, line, actor, now_ms, values, told=told)


def change_schedule(
    db: Database,
    number: int,
    crontab: str,
    zone: str,
    method: str,
    actor: Actor,
    now_ms: int,
    *,
    probe: bool = True,
    moves: float | None = None,
    until_s: int | None = None,
    until_share: float | None = None,
    shown_ms: int | None = None,
) -> Scheduled[RoundSchedule]:
    """Replace a schedule of rounds; it keeps its number.

    shown_ms: when the one was made that the person saw. Raises FormatError, NotFoundError,
    ConflictError (it was changed since).
    """
    line, values, told = _checked(
        crontab, zone, method, probe=probe, moves=moves, until_s=until_s, until_share=until_share
    )
    with db.write() as tx:
        return TIMETABLE.change(
            tx, number, line, actor, now_ms, values, told=told, shown_ms=shown_ms
        )


def _checked(
    crontab: str,
    zone: str,
    method: str,
    *,
    probe: bool,
    moves: float | None,
    until_s: int | None,
    until_share: float | None,
) -> tuple[Crontab, dict[str, Any], dict[str, Any]]:
    """Return the times, the columns, and the details for the audit. Raises FormatError."""
    with about_field("method"):
        check_choice("method", method, BALANCERS)
    with about_field("moves"):
        check_moves(moves)
    with about_field("crontab"):
        line = Crontab(crontab, zone)
    check_deadline(None if until_s is None else until_s * 1000, until_share, 0)
    deadline = {"until_s": until_s, "until_share": until_share}
    values = {"method": method, "probe": probe, "plan_moves": moves, **deadline}
    told = {"method": method, "probe": probe, "moves": moves}
    return line, values, told | {name: one for name, one in deadline.items() if one is not None}


def start_scheduled(db: Database, now_ms: int, policy: Policy = DEFAULT_POLICY) -> int:
    """Begin the rounds that are due; return how many times were looked at."""

    def start(tx: Transaction, row: RoundSchedule, _: list[RoundSchedule]) -> Message:
        return _start(tx, row, now_ms, policy)

    return TIMETABLE.run_due(db, now_ms, start)


def _start(tx: Transaction, row: RoundSchedule, now_ms: int, policy: Policy) -> Message:
    """Begin the round of a schedule, or not; return which, with the reason."""
    actor = Actor("clock", f"schedule {row.id}")
    current = rounds.open_round(tx)
    if current is not None and current.state == "probing":
        why = Message("rounds.running", number=current.number)
    elif now_ms - row.next_ms > LATE_MS:
        why = Message("rounds.late")
    else:
        try:
            number = start_in(
                tx,
                row.method,
                actor,
                now_ms,
                probe=row.probe,
                seed=now_ms % 2**32,
                moves=row.plan_moves,
                policy=policy,
                until_ms=None if row.until_s is None else now_ms + row.until_s * 1000,
                until_share=row.until_share,
            )
        except ConflictError as error:
            why = error.message
        else:
            return Message("rounds.began", number=number)
    note(
        tx,
        now_ms,
        actor,
        "round.skip",
        str(row.id),
        alert=current is None or current.state != "probing",
        reason=why,
    )
    return Message("rounds.skipped", why=why)
