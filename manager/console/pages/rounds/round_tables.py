"""Tables of rounds: the list, agents of a round, their progress, pending units, schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from manager.console.language import Lazy, lazy
from manager.console.listing import Listing
from manager.console.pages.planning.plan_words import METHOD_WORDS
from manager.console.pages.rounds.round_progress import UNIT_STATES, busiest_first
from manager.console.pages.rounds.schedules import SCHEDULE_COLUMNS
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter, text_filter
from manager.console.tables.kinds import (
    AGENT,
    BYTES,
    DRAWN,
    DURATION,
    FLAG,
    HOST,
    ID,
    MOMENT,
    NUMBER,
    SENTENCE,
    STATE,
    WORD,
)
from manager.console.tables.sources import InMemory, InSql
from manager.console.tables.table import BUTTONS, Column, Table
from manager.operations.rounds.round_forecast import (
    FORECAST_MOST,
    AgentForecast,
    ForecastReason,
    forecast_of_round,
)
from manager.operations.rounds.round_holders import (
    HOLDERS_MOST,
    HolderReason,
    RoundHolder,
    holders_of,
)
from manager.operations.rounds.round_list import STATES, RoundFilter, every_round, round_page
from manager.operations.rounds.round_report import AgentReport, round_report
from manager.operations.rounds.round_schedules import TIMETABLE
from manager.operations.rounds.rounds import RoundRow, round_detail
from manager.operations.timetables import Scheduled

__all__ = [
    "AGENTS",
    "AWAITED",
    "HOLDERS",
    "HOLDING_WORDS",
    "PAGES",
    "PROGRESS",
    "REASON_WORDS",
    "ROUNDS",
    "SCHEDULES",
]

HOLDING_WORDS: Final[dict[HolderReason, Lazy]] = {
    HolderReason.FETCHING: lazy("its agent is fetching it"),
    HolderReason.RESTING: lazy("the host asked for a back-off"),
    HolderReason.WAITING: lazy("waiting until its agent may take it"),
    HolderReason.PROBING: lazy("its distance is being measured"),
    HolderReason.LOG_AWAITED: lazy("waiting for the agent's log"),
    HolderReason.UNPLACED: lazy("no owner yet"),
    HolderReason.UNRESOLVED: lazy("its name is being looked up"),
    HolderReason.PLAN: lazy("waiting for the plan, or for an agent"),
    HolderReason.ASLEEP: lazy("its agent calls again later"),
    HolderReason.CLOSED: lazy("the hours of its agent are closed"),
    HolderReason.LATE: lazy("its agent is late; others take it then"),
    HolderReason.LOST: lazy("its agent is lost; others take it"),
    HolderReason.PAUSED: lazy("its agent is paused"),
}
REASON_WORDS: Final[dict[ForecastReason, Lazy]] = {
    ForecastReason.WORKING: lazy("it works"),
    ForecastReason.ASLEEP: lazy("it calls again later"),
    ForecastReason.CLOSED: lazy("its hours are closed"),
    ForecastReason.LATE: lazy("it is late; others take its work then"),
    ForecastReason.LOST: lazy("it is lost; others take its work"),
    ForecastReason.PAUSED: lazy("it is paused"),
}


def _filter(listing: Listing) -> RoundFilter:
    return RoundFilter(listing.filters["method"], listing.filters["state"])


def _page(
    visit: Visit, listing: Listing, limit: int, offset: int
) -> tuple[int, Sequence[RoundRow]]:
    found = round_page(visit.db, _filter(listing), sort=listing.sort, limit=limit, offset=offset)
    return found.total, found.rounds


ROUNDS: Final[Table[RoundRow]] = Table(
    "/rounds",
    "Rounds",
    InSql(_page, lambda visit, one: every_round(visit.db, _filter(one), sort=one.sort)),
    (
        Column("round", lambda row: row.number, lazy("Round"), ID, sort="number", style="numbered"),
        Column("method", lambda row: row.method, lazy("Method"), WORD, sort=True),
        Column("state", lambda row: row.state, lazy("State"), STATE, sort=True),
        Column("probe_first", lambda row: row.probe, kind=FLAG),
        Column("started_by", lambda row: row.started_by),
        Column("started", lambda row: row.started_ms, lazy("Started"), MOMENT, sort=True),
        Column("crawl_began", lambda row: row.crawling_ms, kind=MOMENT),
        Column("finished", lambda row: row.finished_ms, lazy("Ended"), MOMENT, sort=True),
        Column("makespan", lambda row: row.makespan_ms, lazy("Makespan"), DURATION, sort=True),
        Column("busiest_agent", lambda row: row.makespan_agent, lazy("Busiest"), AGENT),
        Column("elapsed", lambda row: row.elapsed_ms, lazy("Crawl took"), DURATION, sort=True),
        Column("deadline", lambda row: row.until_ms, kind=MOMENT),
        Column("expected_end", lambda row: row.eta_ms, lazy("End as first predicted"), MOMENT),
        Column("expected_error", lambda row: row.eta_error, about="its length over the expected"),
        Column("plan", lambda row: row.plan_id, lazy("Plan"), ID),
        Column("reason", lambda row: row.reason, kind=SENTENCE),
    ),
    page_columns=(
        *("round", "state", "method", "started", "finished"),
        *("elapsed", "makespan", "busiest_agent", "plan"),
    ),
    filters=(
        Filter("method", lazy("Method"), "words", tuple(METHOD_WORDS)),
        Filter("state", lazy("State"), "words", STATES),
    ),
    default_sort="-number",
)


AGENTS: Final[Table[AgentReport]] = Table(
    "/rounds/{number:int}",
    "Agents of a round",
    InMemory(lambda visit: round_report(visit.db, visit.number).agents),
    (
        Column("name", lambda one: one.name, lazy("Agent"), AGENT, "agent", sort=True),
        Column("units", lambda one: one.units, lazy("Units"), NUMBER, sort=True),
        Column("failed", lambda one: one.failed, kind=NUMBER, about="units"),
        Column("pages", lambda one: one.pages, lazy("Pages"), NUMBER, sort=True),
        Column("received", lambda one: one.bytes, lazy("Received"), BYTES, sort="bytes"),
        Column("planned", lambda one: one.planned_ms, lazy("Planned"), DURATION, sort=True),
        Column("measured", lambda one: one.measured_ms, lazy("Measured"), DURATION, sort=True),
        Column(
            "error",
            lambda one: one.error,
            lazy("Error"),
            NUMBER,
            sort=True,
            about="measured over planned, less 1",
        ),
    ),
    filters=(text_filter(lazy("Name"), lazy("part of a name"), lambda one: one.name),),
    default_sort="-measured",
    files="round-{number}",
)


def _units(state: str) -> Column[Mapping[str, Any]]:
    return Column(f"units_{state}", lambda one: one["units"].get(state, 0), kind=NUMBER)


PROGRESS: Final[Table[Mapping[str, Any]]] = Table(
    "/rounds/{number:int}/progress",
    "Progress of the agents of a round, the busiest first",
    InMemory(
        lambda visit: busiest_first(round_detail(visit.db, visit.number, with_plan=False).agents)
    ),
    (
        Column("agent", lambda one: one["name"], lazy("Agent"), AGENT),
        Column("drawn", label=lazy("Drawn"), kind=DRAWN),
        Column("units", lambda one: sum(one["units"].values()), lazy("Units done"), NUMBER),
        *map(_units, UNIT_STATES),
        Column("pages", lambda one: one["pages"], lazy("Pages"), NUMBER),
        Column("received", lambda one: one["bytes"], lazy("Bytes"), BYTES),
        Column("measured", lambda one: one["measured_ms"], lazy("Measured cost"), DURATION),
    ),
    files="round-{number}-progress",
)
HOLDERS: Final[Table[RoundHolder]] = Table(
    "/rounds/{number:int}/holders",
    f"Pending units of a round, held longest first, at most {HOLDERS_MOST:,}",
    InMemory(
        lambda visit: (
            holders_of(visit.db, visit.number, visit.policy, visit.now_ms, HOLDERS_MOST).holders
        )
    ),
    (
        Column("host", lambda one: one.unit, lazy("Host"), HOST),
        Column("agent", lambda one: one.agent, lazy("Agent"), AGENT),
        Column("reason", lambda one: one.reason.value, lazy("Reason")),
        Column("until", lambda one: one.until_ms, kind=MOMENT),
        Column("why", lambda one: one.why),
        Column("since", lambda one: one.since_ms, lazy("Since"), MOMENT),
    ),
    files="round-{number}-holders",
)
AWAITED: Final[Table[AgentForecast]] = Table(
    "/rounds/{number:int}/forecast",
    f"Agents that a round waits for, those that end last first, at most {FORECAST_MOST:,}",
    InMemory(
        lambda visit: (
            forecast_of_round(
                visit.db, visit.number, visit.policy, visit.now_ms, FORECAST_MOST
            ).agents
        )
    ),
    (
        Column("agent", lambda one: one.agent, lazy("Agent"), AGENT),
        Column("left", lambda one: one.work, lazy("Left"), NUMBER, about="probes or units"),
        Column("reason", lambda one: one.reason.value, lazy("Reason")),
        Column("until", lambda one: one.until_ms, kind=MOMENT),
        Column("ends", lambda one: one.end_ms, lazy("Predicted end"), MOMENT),
    ),
    page_columns=("agent", "left", "reason", "ends"),
    files="round-{number}-forecast",
)
SCHEDULES: Final[Table[Scheduled[Any]]] = Table(
    "/rounds/schedules",
    "Schedules of rounds",
    InMemory(lambda visit: TIMETABLE.listed(visit.db, visit.now_ms)),
    (
        *SCHEDULE_COLUMNS,
        Column("method", lambda one: one.schedule.method, lazy("Method"), WORD),
        Column("probe_first", lambda one: one.schedule.probe, kind=FLAG),
        Column(
            "share_of_units_moved", lambda one: one.schedule.plan_moves, about="at most; 0 to 1"
        ),
        BUTTONS,
    ),
    page_columns=("times", "method", "next_runs", "last_time", "actions"),
    files="round-schedules",
)
PAGES: Final = (
    *PROGRESS.file_pages(),
    *HOLDERS.file_pages(),
    *AWAITED.file_pages(),
    *SCHEDULES.file_pages(),
)
