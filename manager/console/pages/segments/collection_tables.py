"""Collection schedules as CSV."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.csv_export import csv_response, moment_cell
from manager.console.pages.rounds.schedules import SCHEDULE_HEADER, schedule_cells
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.segments.collection_schedules import TIMETABLE

__all__ = ["PAGES", "SENDS"]

SENDS: Final = ("sends", "way", "captures from (UTC)", "captures until (UTC)")
SCHEDULES_HEADER: Final = (*SCHEDULE_HEADER, "agent", *SENDS)


def export_schedules(visit: Visit) -> Response:
    """Send when agents are asked to send as CSV; without an agent: all that have no own."""
    rows = (
        [
            *schedule_cells(one),
            one.schedule.agent,
            one.schedule.condition,
            one.schedule.way,
            moment_cell(one.schedule.from_ms),
            moment_cell(one.schedule.until_ms),
        ]
        for one in TIMETABLE.listed(visit.db, visit.now_ms)
    )
    return csv_response("collection-schedules", SCHEDULES_HEADER, rows)


PAGES: Final = (Page("GET", "/collection/schedules.csv", "viewer", export_schedules),)
