"""Schedules on the pages of their uses: changed, removed; what their files have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, moment_cell
from manager.console.language import _
from manager.console.messages.sentences import sentence_of
from manager.console.messages.words import run
from manager.console.requests.visit import Question, Visit
from manager.db.rounds.schedules import Schedule
from manager.operations.timetables import Scheduled, Timetable

__all__ = [
    "SCHEDULE_HEADER",
    "edited",
    "next_run",
    "number_of",
    "removed",
    "schedule_cells",
    "too_many",
]

Row = TypeVar("Row", bound=Schedule)
SCHEDULE_HEADER: Final = (
    "id",
    "times",
    "zone",
    "made by",
    "made (UTC)",
    "next runs (UTC)",
    "last time (UTC)",
    "last result",
)


def edited(visit: Visit, schedules: Sequence[Scheduled[Row]]) -> Row | None:
    """Return the schedule that the form is filled with, by the URL; none: it makes a new one."""
    number = number_of(visit.query.get("edit", ""))
    return next((one.schedule for one in schedules if one.schedule.id == number), None)


def removed(visit: Visit, timetable: Timetable[Any], here: str, warning: str) -> Response:
    """Remove a schedule; ask once. warning: what continues all the same."""
    number = visit.form.get("schedule", "")
    if not visit.is_confirmed:
        return visit.ask(
            Question(
                _("Remove schedule %(number)s?", number=number),
                (warning,),
                _("Remove"),
                f"{here}/schedules/remove",
                here,
                {"schedule": number},
            )
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


def schedule_cells(one: Scheduled[Any]) -> list[Cell]:
    """Return the cells of a schedule under `SCHEDULE_HEADER`, whatever it is of."""
    row = one.schedule
    return [
        row.id,
        row.crontab,
        row.zone,
        row.made_by,
        figures.iso(row.made_ms),
        " ".join(map(figures.iso, one.next_runs_ms)),
        moment_cell(row.last_ms),
        str(row.last_result or ""),
    ]


def number_of(text: str) -> int:
    """Return the number that a form says; 0, which nothing has, for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
