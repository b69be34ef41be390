"""Schedules on the pages of their uses: how one is removed."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from manager.console.language import _
from manager.console.visit import Question, Visit
from manager.operations.timetables import Timetable

__all__ = ["number_of", "removed"]


def removed(visit: Visit, timetable: Timetable[Any], here: str, warning: str) -> Response:
    """Let nothing happen by a schedule any more; ask once. warning: what goes on all the same."""
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


def number_of(text: str) -> int:
    """Return the number that a form says; 0, which nothing has, for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
