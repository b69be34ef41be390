"""The short tables of rounds as CSV: how far each agent is, what a round waits for, schedules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from manager.console.csv_export import Cell, csv_response, moment_cell
from manager.console.pages.rounds.round_progress import UNIT_STATES, busiest_first
from manager.console.pages.rounds.schedules import SCHEDULE_HEADER, schedule_cells
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.rounds.round_holders import HOLDERS_MOST, RoundHolder, holders_of
from manager.operations.rounds.round_schedules import TIMETABLE
from manager.operations.rounds.rounds import round_detail

__all__ = ["PAGES"]

PROGRESS_HEADER: Final = (
    "agent",
    "units",
    *(f"units {state}" for state in UNIT_STATES),
    "pages",
    "received (bytes)",
    "measured (ms)",
)
HOLDERS_HEADER: Final = ("host", "agent", "reason", "until (UTC)", "why", "since (UTC)")
SCHEDULES_HEADER: Final = (*SCHEDULE_HEADER, "method", "probe first", "share of units moved")


def export_progress(visit: Visit) -> Response:
    """Send how far each agent is in a round as CSV, the busiest first."""
    detail = round_detail(visit.db, visit.number, with_plan=False)
    rows = map(_progress, busiest_first(detail.agents))
    return csv_response(f"round-{visit.number}-progress", PROGRESS_HEADER, rows)


def _progress(agent: Mapping[str, Any]) -> list[Cell]:
    units = agent["units"]
    return [
        agent["name"],
        sum(units.values()),
        *(units.get(state, 0) for state in UNIT_STATES),
        agent["pages"],
        agent["bytes"],
        agent["measured_ms"],
    ]


def export_holders(visit: Visit) -> Response:
    """Send what a round waits for as CSV, held for longest first; at most 1,000 rows."""
    held = holders_of(visit.db, visit.number, visit.policy, visit.now_ms, HOLDERS_MOST)
    return csv_response(f"round-{visit.number}-holders", HOLDERS_HEADER, map(_held, held.holders))


def _held(one: RoundHolder) -> list[Cell]:
    until, since = moment_cell(one.until_ms), moment_cell(one.since_ms)
    return [one.unit, one.agent, one.reason.value, until, one.why, since]


def export_schedules(visit: Visit) -> Response:
    """Send the schedules of rounds as CSV."""
    rows = (
        [
            *schedule_cells(one),
            one.schedule.method,
            one.schedule.probe,
            one.schedule.plan_moves,
        ]
        for one in TIMETABLE.listed(visit.db, visit.now_ms)
    )
    return csv_response("round-schedules", SCHEDULES_HEADER, rows)


PAGES: Final = (
    Page("GET", "/rounds/{number:int}/progress.csv", "viewer", export_progress),
    Page("GET", "/rounds/{number:int}/holders.csv", "viewer", export_holders),
    Page("GET", "/rounds/schedules.csv", "viewer", export_schedules),
)
