"""The short tables of the collection, whole and as CSV: schedules, and what agents were asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.access import Page
from manager.console.csv_export import Cell, csv_response, moment_cell
from manager.console.pages.schedules import SCHEDULE_HEADER, schedule_cells
from manager.console.visit import Visit
from manager.operations.collection_orders import list_orders
from manager.operations.collection_schedules import TIMETABLE

__all__ = ["PAGES"]

ROWS_AT_ONCE: Final = 1000
SENDS: Final = ("sends", "way", "captures from (UTC)", "captures until (UTC)")
SCHEDULES_HEADER: Final = (*SCHEDULE_HEADER, "agent", *SENDS)
ORDERS_HEADER: Final = (
    "id",
    "agent",
    *SENDS,
    "made by",
    "made (UTC)",
    "state",
    "tries",
    "next try (UTC)",
    "segments",
    "sent (bytes)",
    "ended (UTC)",
    "result",
)


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


def export_orders(visit: Visit) -> Response:
    """Send all that agents were asked to send as CSV, the newest first."""
    return csv_response("collection-orders", ORDERS_HEADER, _orders(visit))


def _orders(visit: Visit) -> Iterator[list[Cell]]:
    before: int | None = None
    while rows := list_orders(visit.db, before=before, limit=ROWS_AT_ONCE):
        for row in rows:
            yield [
                row.id,
                row.agent,
                row.condition,
                row.way,
                moment_cell(row.from_ms),
                moment_cell(row.until_ms),
                row.made_by,
                figures.iso(row.made_ms),
                row.state,
                row.tries,
                moment_cell(row.next_try_ms),
                row.segments,
                row.sent_bytes,
                moment_cell(row.ended_ms),
                row.result,
            ]
        before = rows[-1].id


PAGES: Final = (
    Page("GET", "/collection/schedules.csv", "viewer", export_schedules),
    Page("GET", "/collection/orders.csv", "viewer", export_orders),
)
