"""Schedules: kept, changed, removed; each due time is acted on once.

Invariant: a time is taken once, whoever ticks, because what is done and the next time are one
transaction. What is done at it, and whether a time that was missed counts, is left to the use:
`round_schedules`, `collection_schedules`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, Generic, TypeAlias, TypeVar

from manager.db.engine import Database, Transaction
from manager.db.rounds.schedules import Schedule, Schedules
from manager.errors import ConflictError, NotFoundError
from manager.message_fields import message_fields
from manager.operations.actor import Actor, note
from manager.schedules import Crontab, ScheduleError
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["LATE_MS", "Scheduled", "Timetable"]

LATE_MS: Final = 3_600_000
RUNS_SHOWN: Final = 5

Row = TypeVar("Row", bound=Schedule)
Act: TypeAlias = Callable[[Transaction, Row, list[Row]], Message | str]


@message_fields
@frozen
class Scheduled(Generic[Row]):
    """A schedule with its next runs: epoch milliseconds, and in words in its own zone.

    problem: why its line cannot be read here, so that it has no next run; None: it can.
    """

    schedule: Row
    next_runs_ms: list[int]
    next_runs: list[str]
    problem: Message | None = None


class Timetable(Generic[Row]):
    """The schedules of one use."""

    def __init__(
        self, rows: Schedules[Row], words: tuple[str, str, str], most: int, see: str
    ) -> None:
        """words: of the audit, for one that is added, changed, removed. most: so many.

        see: the command that lists them.
        """
        self._rows = rows
        self._added, self._changed, self._removed = words
        self.most = most
        self.see = see

    def add(
        self,
        tx: Transaction,
        line: Crontab,
        actor: Actor,
        now_ms: int,
        values: dict[str, Any],
        *,
        subject: str = "",
        told: dict[str, Any],
    ) -> Scheduled[Row]:
        """Keep a schedule. values: its own columns. subject, told: for the audit.

        subject: without one, the schedule's number. Raises ConflictError where there are too many.
        """
        if len(self._rows.all(tx)) >= self.most:
            raise ConflictError("schedules.too_many", number=self.most)
        row = self._rows.add(tx, **_columns(line, actor, now_ms), **values)
        detail = {"crontab": line.text, "zone": line.zone.key, **told}
        if subject:
            detail = {"schedule": row.id, **detail}
        note(tx, now_ms, actor, self._added, subject or str(row.id), **detail)
        return _shown(row, now_ms)

    def change(
        self,
        tx: Transaction,
        number: int,
        line: Crontab,
        actor: Actor,
        now_ms: int,
        values: dict[str, Any],
        *,
        told: dict[str, Any],
        shown_ms: int | None = None,
    ) -> Scheduled[Row]:
        """Replace a schedule; its number and its last time stay.

        shown_ms: when the one was made that the person saw; None: it may be any. values, told: as
        of `add`. Raises NotFoundError, ConflictError (it was changed since it was shown).
        """
        before = self.found(tx, number)
        if shown_ms not in (None, before.made_ms):
            raise ConflictError("schedules.changed", number=number)
        self._rows.update(tx, number, **_columns(line, actor, now_ms), **values)
        detail = {"crontab": line.text, "zone": line.zone.key, **told}
        was = f"{before.crontab} ({before.zone})"
        note(tx, now_ms, actor, self._changed, str(number), before=was, **detail)
        return _shown(self.found(tx, number), now_ms)

    def found(self, tx: Transaction, number: int) -> Row:
        """Return a schedule. Raises NotFoundError."""
        row = self._rows.by_id(tx, number)
        if row is None:
            raise NotFoundError("schedules.unknown", number=number, see=self.see)
        return row

    def run_now(self, tx: Transaction, number: int, now_ms: int, act: Act[Row]) -> None:
        """Do what a schedule says before its time, which stays. act: as of `run_due`.

        Raises NotFoundError, and what `act` does.
        """
        said = act(tx, self.found(tx, number), self._rows.all(tx))
        self._rows.update(tx, number, last_ms=now_ms, last_result=said)

    def remove(self, db: Database, number: int, actor: Actor, now_ms: int) -> None:
        """Remove a schedule. Raises NotFoundError."""
        with db.write() as tx:
            if not self._rows.remove(tx, number):
                raise NotFoundError("schedules.unknown", number=number, see=self.see)
            note(tx, now_ms, actor, self._removed, str(number))

    def listed(self, db: Database, now_ms: int) -> list[Scheduled[Row]]:
        """Return all schedules, the next to run first, with their next five runs."""
        with db.read() as tx:
            return [_shown(row, now_ms) for row in self._rows.all(tx)]

    def run_due(self, db: Database, now_ms: int, act: Act[Row]) -> int:
        """Do what is due; return for how many schedules.

        act: does it, in the transaction that sets the next time, given the schedule and all there
        are; it returns what it did in words.
        """
        with db.read() as tx:
            if not any(_is_due(row, now_ms) for row in self._rows.all(tx)):
                return 0
        done = 0
        with db.write() as tx:
            rows = self._rows.all(tx)
            for row in rows:
                if not _is_due(row, now_ms):
                    continue
                try:
                    next_ms = _next_ms(Crontab(row.crontab, row.zone), now_ms)
                except ScheduleError as error:
                    # A time zone that this machine has lost: the other schedules continue.
                    late_ms = now_ms + LATE_MS
                    self._rows.update(tx, row.id, next_ms=late_ms, last_result=error.message)
                    continue
                if row.next_ms > now_ms:
                    # The clock was set back since.
                    self._rows.update(tx, row.id, next_ms=next_ms)
                    continue
                done += 1
                said = act(tx, row, rows)
                self._rows.update(tx, row.id, next_ms=next_ms, last_ms=now_ms, last_result=said)
        return done


def _columns(line: Crontab, actor: Actor, now_ms: int) -> dict[str, Any]:
    """Return the columns that each schedule has."""
    return {
        "crontab": line.text,
        "zone": line.zone.key,
        "made_by": actor.name,
        "made_ms": now_ms,
        "next_ms": _next_ms(line, now_ms),
    }


def _is_due(row: Schedule, now_ms: int) -> bool:
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


def _shown(row: Row, now_ms: int) -> Scheduled[Row]:
    try:
        runs = Crontab(row.crontab, row.zone).next_runs(_moment(now_ms), RUNS_SHOWN)
    except ScheduleError as error:
        return Scheduled(row, [], [], Message("schedules.never", problem=error.message))
    return Scheduled(
        row,
        [round(run.timestamp() * 1000) for run in runs],
        [f"{run:%A, %-d %B %Y, %H:%M %Z}" for run in runs],
    )
