"""Schedules on the pages of their uses: changed, removed; the columns that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from starlette.responses import Response

from manager.console import figures
from manager.console.language import _, lazy
from manager.console.listing import is_whole
from manager.console.messages.sentences import run, sentence_of
from manager.console.requests.visit import Visit
from manager.console.tables.kinds import AGO, ID, MOMENT, SENTENCE
from manager.console.tables.table import Column
from manager.db.rounds.schedules import Schedule
from manager.operations.timetables import Scheduled, Timetable

__all__ = ["SCHEDULE_COLUMNS", "edited", "next_run", "number_of", "removed", "too_many"]

Row = TypeVar("Row", bound=Schedule)
SCHEDULE_COLUMNS: Final[tuple[Column[Scheduled[Any]], ...]] = (
    Column("id", lambda one: one.schedule.id, kind=ID),
    Column("times", lambda one: one.schedule.crontab, lazy("Times"), style="key", about="crontab"),
    Column("zone", lambda one: one.schedule.zone, about="time zone of the times"),
    Column("made_by", lambda one: one.schedule.made_by),
    Column("made", lambda one: one.schedule.made_ms, kind=MOMENT),
    Column(
        "next_runs",
        lambda one: " ".join(map(figures.iso, one.next_runs_ms)),
        lazy("Next runs"),
        file="next runs (UTC)",
        style="wide",
        about="moments, separated by spaces",
    ),
    Column("last_time", lambda one: one.schedule.last_ms, lazy("Last run"), AGO),
    Column("last_result", lambda one: one.schedule.last_result, kind=SENTENCE),
)
"""Columns of the schedules of rounds and of the collection."""


def edited(visit: Visit, schedules: Sequence[Scheduled[Row]]) -> Row | None:
    """Return the schedule that the form is filled with, by the URL; none: it makes a new one."""
    number = number_of(visit.query.get("edit", ""))
    return next((one.schedule for one in schedules if one.schedule.id == number), None)


def removed(visit: Visit, timetable: Timetable[Any], here: str, warning: str) -> Response:
    """Remove a schedule; ask once. warning: what continues all the same."""
    number = visit.form.get("schedule", "")
    if not visit.is_confirmed:
        return visit.ask(
            _("Remove schedule %(number)s?", number=number),
            warning,
            button=_("Remove"),
            back=here,
            fields={"schedule": number},
        )
    timetable.remove(visit.db, number_of(number), visit.actor, visit.now_ms)
    return visit.go(here, done=_("Schedule %(number)s is removed.", number=number))


def too_many(timetable: Timetable[Any], schedules: Sequence[Scheduled[Any]]) -> str:
    """Return why no further schedule can be added; empty: one can."""
    if len(schedules) < timetable.most:
        return ""
    return _(
        "The limit of %(number)s schedules is reached: remove one first.", number=timetable.most
    )


def next_run(made: Scheduled[Any]) -> str:
    """Return the moment of a schedule's next run in its own zone, or why there is none.

    A moment in UTC is written so that the page shows it in the viewer's zone.
    """
    if made.next_runs_ms and made.schedule.zone == "UTC":
        return figures.minute(made.next_runs_ms[0])
    if made.next_runs_ms:
        return run(made.next_runs_ms[0], made.schedule.zone)
    return sentence_of(made.problem)


def number_of(text: str) -> int:
    """Return the number that a form says; 0, which nothing has, for what is none."""
    return int(text) if is_whole(text, 18) else 0
