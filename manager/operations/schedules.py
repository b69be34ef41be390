"""Rounds by the clock: schedules are kept, looked at, removed; the tick begins what is due.

Invariants: a time begins at most one round, whoever ticks, because the round and the next time are
one transaction. A time at which a round goes on, or nothing could be done, is skipped, not kept for
later, and leaves an audit row. A time that was missed by more than an hour, as the manager was
away, is skipped, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from manager.balancing import BALANCERS
from manager.db import rounds, schedules
from manager.db.engine import Database, Transaction
from manager.db.schedules import ScheduleRow
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.policy import DEFAULT_POLICY, Policy
from manager.operations.rounds import check_moves, start_in
from manager.schedules import Crontab, ScheduleError
from shared.errors import FormatError

__all__ = [
    "ScheduleRow",
    "Scheduled",
    "add_schedule",
    "list_schedules",
    "remove_schedule",
    "start_scheduled",
]

LATE_MS: Final = 3_600_000
RUNS_SHOWN: Final = 5
SCHEDULES_MOST: Final = 100


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A schedule with its next runs: epoch milliseconds, and in words in its own zone.

    Where the line cannot be read here any more, none, and the reason in words.
    """

    schedule: ScheduleRow
    next_runs_ms: list[int]
    next_runs: list[str]


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
) -> Scheduled:
    """Let rounds begin by the clock. moves: as of `start_round`.

    Raises FormatError, ConflictError where there are too many.
    """
    if method not in BALANCERS:
        raise FormatError(f"method {method[:40]!r}: must be one of {', '.join(BALANCERS)}")
    check_moves(moves)
    line = Crontab(crontab, zone)
    with db.write() as tx:
        if len(schedules.all_schedules(tx)) >= SCHEDULES_MOST:
            raise ConflictError(f"there are {SCHEDULES_MOST} schedules already: remove one")
        number = schedules.add(
            tx,
            crontab=line.text,
            zone=zone,
            method=method,
            probe=probe,
            plan_moves=moves,
            made_by=actor.name,
            made_ms=now_ms,
            next_ms=_next_ms(line, now_ms),
        )
        note(
            tx,
            now_ms,
            actor,
            "schedule.add",
            str(number),
            crontab=line.text,
            zone=zone,
            method=method,
            probe=probe,
            moves=moves,
        )
        row = schedules.by_id(tx, number)
        assert row is not None, "it was added a moment ago"
    return _shown(row, now_ms)


def remove_schedule(db: Database, number: int, actor: Actor, now_ms: int) -> None:
    """Let no round begin by a schedule any more; one that goes on goes on. Raises NotFoundError."""
    with db.write() as tx:
        if not schedules.remove(tx, number):
            raise NotFoundError(f"schedule {number}: there is none; see `prsm rounds schedule`")
        note(tx, now_ms, actor, "schedule.remove", str(number))


def list_schedules(db: Database, now_ms: int) -> list[Scheduled]:
    """Return all schedules, the next to run first, with their next five runs."""
    with db.read() as tx:
        return [_shown(row, now_ms) for row in schedules.all_schedules(tx)]


def start_scheduled(db: Database, now_ms: int, policy: Policy = DEFAULT_POLICY) -> int:
    """Begin the rounds that are due; return how many times were looked at."""
    with db.read() as tx:
        if not any(_is_due(row, now_ms) for row in schedules.all_schedules(tx)):
            return 0
    looked_at = 0
    with db.write() as tx:
        for row in schedules.all_schedules(tx):
            if not _is_due(row, now_ms):
                continue
            try:
                next_ms = _next_ms(Crontab(row.crontab, row.zone), now_ms)
            except ScheduleError as error:
                # A time zone that this machine has lost: the other schedules go on.
                schedules.update(tx, row.id, next_ms=now_ms + LATE_MS, last_result=str(error))
                continue
            if row.next_ms > now_ms:
                # The clock was set back since.
                schedules.update(tx, row.id, next_ms=next_ms)
                continue
            looked_at += 1
            result = _start(tx, row, now_ms, policy)
            schedules.update(tx, row.id, next_ms=next_ms, last_ms=now_ms, last_result=result)
    return looked_at


def _start(tx: Transaction, row: ScheduleRow, now_ms: int, policy: Policy) -> str:
    """Begin the round of a schedule, or say why not; return it in words."""
    actor = Actor("clock", f"schedule {row.id}")
    current = rounds.open_round(tx)
    if current is not None:
        why = f"round {current.number} goes on"
    elif now_ms - row.next_ms > LATE_MS:
        why = "the manager was away at its time"
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
            )
        except ConflictError as error:
            why = str(error)
        else:
            return f"began round {number}"
    note(tx, now_ms, actor, "round.skip", str(row.id), alert=current is None, reason=why)
    return f"skipped: {why}"


def _is_due(row: ScheduleRow, now_ms: int) -> bool:
    if row.next_ms <= now_ms:
        return True
    try:
        # Further away than any time of the line could be: the clock was set back.
        return row.next_ms > _next_ms(Crontab(row.crontab, row.zone), now_ms)
    except ScheduleError:
        return False


def _next_ms(line: Crontab, now_ms: int) -> int:
    return round(line.next_after(_moment(now_ms)).timestamp() * 1000)


def _moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)


def _shown(row: ScheduleRow, now_ms: int) -> Scheduled:
    try:
        runs = Crontab(row.crontab, row.zone).next_runs(_moment(now_ms), RUNS_SHOWN)
    except ScheduleError as error:
        return Scheduled(row, [], [f"never: {error}"])
    return Scheduled(
        row,
        [round(run.timestamp() * 1000) for run in runs],
        [f"{run:%A, %-d %B %Y, %H:%M %Z}" for run in runs],
    )
