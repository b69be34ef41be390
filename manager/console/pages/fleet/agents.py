"""The table of agents, where the source had its page of robots (`/servlets/listrobot`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from starlette.responses import Response

from manager.assignment import LivenessState
from manager.console import figures
from manager.console.csv_export import Cell, csv_response, moment_cell
from manager.console.drawings.map_area import read_area
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.pages.rounds.round_progress import RoundProgress, progress_of
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.db.fleet.agent_summaries import GlanceRow
from manager.operations.fleet.agent_summaries import AgentGlance, agent_column, agent_glances
from manager.operations.fleet.agents import AgentView, agent_views, list_join_tokens
from manager.operations.rounds.rounds import list_rounds, round_detail
from shared.frozen import frozen

__all__ = ["FILTERS", "PAGES", "matching"]

FILTERS: Final = ("q", "state", "kind", "area")

STATES: Final = tuple(state.value for state in LivenessState)
_RANK: Final = {state: rank for rank, state in enumerate(STATES)}
KINDS: Final = ("sync", "plain")
ROUNDS_LOOKED_AT: Final = 20
NEW_MS: Final = 3_600_000
NEW_SHOWN: Final = 3


@frozen
class AgentLine:
    """An agent with its average throughput in the newest round that crawled; None: took no part."""

    view: AgentView
    pages_per_s: float | None
    bytes_per_s: float | None


KEYS: Final[dict[str, Callable[[AgentGlance], Any]]] = {
    "name": lambda one: one.row.name,
    "state": lambda one: (_RANK[one.liveness.state.value], one.row.name),
    "contact": lambda one: one.row.last_contact_ms,
    "next": lambda one: one.row.promised_ms,
    "work": lambda one: one.row.last_work_ms,
    "units": lambda one: one.units_owned,
}
COLUMNS: Final[dict[str, tuple[str, Callable[[Any], Any] | None]]] = {
    "version": ("version", lambda version: version or None),
    "generation": ("generation", None),
    "list": ("list_sent_ms", None),
    "restart": ("restart_asked_ms", None),
    "disk": ("disk_free_bytes", None),
    "skew": ("skew_ms", abs),
    "cost": ("load_ms", None),
}
"""What the table is sorted by, too, and a glance does not have: the column, and what of it."""
SORTS: Final = (*KEYS, *COLUMNS, "rate")

HEADER: Final = (
    "agent",
    "kind",
    "state",
    "reason",
    "last contact (UTC)",
    "last message",
    "last work (UTC)",
    "next contact (UTC)",
    "version",
    "generation",
    "generation sent",
    "generation held",
    "list sent (UTC)",
    "restart ordered (UTC)",
    "restart asked (UTC)",
    "restart handled (UTC)",
    "pages of a unit on its next list",
    "pages per second",
    "bytes per second",
    "disk free (bytes)",
    "clock skew (ms)",
    "reports waiting",
    "units owned",
    "units to crawl now",
    "units to probe now",
    "cost (ms)",
)
TOKENS_HEADER: Final = ("agent", "made by", "made (UTC)", "valid until (UTC)")


def _listing(visit: Visit) -> Listing:
    return read_listing(
        "/console/agents",
        visit.query,
        filters=FILTERS,
        sorts=SORTS,
        default_sort="name",
    )


def matching(agents: list[AgentGlance], listing: Listing) -> list[AgentGlance]:
    """Return the agents that the filters of a list leave. Raises FormatError: no such area."""
    area = read_area(listing.filters["area"])
    text, state = listing.filters["q"].lower(), listing.filters["state"]
    kind = listing.filters["kind"]
    # Retired ones are kept for ever; who wants to see them asks for them.
    return [
        one
        for one in agents
        if text in one.row.name
        and kind in ("", one.row.kind)
        and (area is None or area.holds(one.row))
        and (one.liveness.state.value == state if state else one.row.retired_ms is None)
    ]


def _last_crawl(visit: Visit) -> RoundProgress | None:
    """Return the newest round that has begun to crawl."""
    for row in list_rounds(visit.db, ROUNDS_LOOKED_AT):
        if row.crawling_ms is not None:
            return progress_of(round_detail(visit.db, row.number, with_plan=False), visit.now_ms)
    return None


def _sorted(
    visit: Visit, agents: list[AgentGlance], listing: Listing, progress: RoundProgress | None
) -> list[int]:
    """Return the numbers of the agents that the filters leave, in the order of the list."""
    by = listing.sort.removeprefix("-")
    found = listing.sorted(matching(agents, listing), {by: _key(visit, by, progress)})
    return [one.row.id for one in found]


def _key(visit: Visit, by: str, progress: RoundProgress | None) -> Callable[[AgentGlance], Any]:
    if by == "rate":
        return lambda one: progress and (progress.rate_of(one.row.name) or (None,))[0]
    if by not in COLUMNS:
        return KEYS[by]
    column, order = COLUMNS[by]
    values = agent_column(visit.db, column)

    def key(one: AgentGlance) -> Any:
        value = values.get(one.row.id)
        return value if value is None or order is None else order(value)

    return key


def _lines(visit: Visit, numbers: Sequence[int], progress: RoundProgress | None) -> list[AgentLine]:
    lines = []
    for view in agent_views(visit.db, numbers, visit.now_ms, visit.policy):
        rate = progress.rate_of(view.row.name) if progress is not None else None
        lines.append(AgentLine(view, *(rate or (None, None))))
    return lines


def show(visit: Visit) -> Response:
    """Show the table."""
    listing = _listing(visit)
    agents = agent_glances(visit.db, visit.now_ms, visit.policy)
    progress = _last_crawl(visit)
    cut = listing.cut(_sorted(visit, agents, listing, progress))
    return visit.page(
        "agents.html",
        listing=listing,
        cut=replace(cut, rows=_lines(visit, cut.rows, progress)),
        everybody=len(agents),
        progress=progress,
        counts=Counter(one.liveness.state.value for one in agents),
        states=STATES,
        kinds=KINDS,
        newcomers=_newcomers(agents, visit.now_ms),
        tokens=list_join_tokens(visit.db, visit.now_ms) if visit.may("admin") else [],
    )


def _newcomers(agents: list[AgentGlance], now_ms: int) -> list[GlanceRow]:
    """Return the agents that joined lately, the last first: a person may be waiting for one."""
    rows = [view.row for view in agents if view.row.retired_ms is None]
    rows = [row for row in rows if now_ms - row.joined_ms < NEW_MS]
    return sorted(rows, key=lambda row: -row.joined_ms)[:NEW_SHOWN]


def export(visit: Visit) -> Response:
    """Send the same rows as CSV."""
    listing = _listing(visit)
    agents, progress = agent_glances(visit.db, visit.now_ms, visit.policy), _last_crawl(visit)
    found = _lines(visit, _sorted(visit, agents, listing, progress), progress)
    return csv_response("agents", HEADER, map(_cells, found))


def _cells(line: AgentLine) -> list[Cell]:
    view, row = line.view, line.view.row
    return [
        row.name,
        row.kind,
        view.liveness.state.value,
        str(view.liveness.reason),
        moment_cell(row.last_contact_ms),
        row.last_contact,
        moment_cell(row.last_work_ms),
        moment_cell(row.promised_ms),
        row.version,
        row.generation,
        row.list_sent_generation,
        row.generation_held,
        moment_cell(row.list_sent_ms),
        moment_cell(row.restart_ordered_ms),
        moment_cell(row.restart_asked_ms),
        moment_cell(row.restart_handled_ms),
        row.list_limit,
        line.pages_per_s,
        line.bytes_per_s,
        row.disk_free_bytes,
        row.skew_ms,
        row.reports_waiting,
        view.units_owned,
        view.crawl_rights,
        view.probe_rights,
        round(row.load_ms),
    ]


def export_tokens(visit: Visit) -> Response:
    """Send the join tokens that wait as CSV: whose they are, never what they are."""
    rows: list[list[Cell]] = [
        [row.agent, row.issued_by, figures.iso(row.issued_ms), figures.iso(row.expires_ms)]
        for row in list_join_tokens(visit.db, visit.now_ms)
    ]
    return csv_response("join-tokens", TOKENS_HEADER, rows)


PAGES: Final = (
    Page("GET", "/agents", "viewer", show, query=(*FILTERS, *LISTED)),
    Page("GET", "/agents.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("GET", "/agents/join-tokens.csv", "admin", export_tokens),
)
