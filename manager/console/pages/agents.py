"""The table of agents, where the source had its page of robots (`/servlets/listrobot`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from manager.assignment import LivenessState
from manager.console import figures
from manager.console.access import Page
from manager.console.area import read_area
from manager.console.csv_export import Cell, csv_response, moment_cell
from manager.console.listing import Listing, read_listing
from manager.console.pages.progress import Progress, progress_of
from manager.console.visit import Visit
from manager.db.agents import AgentRow
from manager.operations.agents import AgentView, list_agents, list_join_tokens
from manager.operations.rounds import list_rounds, round_detail

__all__ = ["FILTERS", "PAGES", "matching"]

FILTERS: Final = ("q", "state", "kind", "area")

STATES: Final = tuple(state.value for state in LivenessState)
_RANK: Final = {state: rank for rank, state in enumerate(STATES)}
KINDS: Final = ("sync", "plain")
ROUNDS_LOOKED_AT: Final = 20
NEW_MS: Final = 3_600_000
NEW_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class AgentLine:
    """An agent with its average throughput in the newest round that crawled; None: took no part."""

    view: AgentView
    pages_per_s: float | None
    bytes_per_s: float | None


KEYS: Final[dict[str, Callable[[AgentLine], Any]]] = {
    "name": lambda line: line.view.row.name,
    "state": lambda line: (_RANK[line.view.liveness.state.value], line.view.row.name),
    "contact": lambda line: line.view.row.last_contact_ms,
    "next": lambda line: line.view.row.promised_ms,
    "work": lambda line: line.view.row.last_work_ms,
    "version": lambda line: line.view.row.version or None,
    "generation": lambda line: line.view.row.generation,
    "list": lambda line: line.view.row.list_sent_ms,
    "restart": lambda line: line.view.row.restart_asked_ms,
    "rate": lambda line: line.pages_per_s,
    "disk": lambda line: line.view.row.disk_free_bytes,
    "skew": lambda line: abs(line.view.row.skew_ms),
    "units": lambda line: line.view.units_owned,
    "cost": lambda line: line.view.row.load_ms,
}

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
    "pages of a unit on its next lists",
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
        sorts=tuple(KEYS),
        default_sort="name",
    )


def matching(agents: list[AgentView], listing: Listing) -> list[AgentView]:
    """Return the agents that the filters of a list leave. Raises FormatError: no such area."""
    area = read_area(listing.filters["area"])
    text, state = listing.filters["q"].lower(), listing.filters["state"]
    kind = listing.filters["kind"]
    # Retired ones are kept for ever; who wants to see them asks for them.
    return [
        view
        for view in agents
        if text in view.row.name
        and kind in ("", view.row.kind)
        and (area is None or area.holds(view.row))
        and (
            view.liveness.state.value == state if state else view.liveness.state.value != "retired"
        )
    ]


def _last_crawl(visit: Visit) -> Progress | None:
    """Return the newest round that has begun to crawl."""
    for row in list_rounds(visit.db, ROUNDS_LOOKED_AT):
        if row.crawling_ms is not None:
            return progress_of(round_detail(visit.db, row.number), visit.now_ms)
    return None


def _lines(agents: list[AgentView], progress: Progress | None) -> list[AgentLine]:
    lines = []
    for view in agents:
        rate = progress.rate_of(view.row.name) if progress is not None else None
        lines.append(AgentLine(view, *(rate or (None, None))))
    return lines


def show(visit: Visit) -> Response:
    """Show the table."""
    listing = _listing(visit)
    agents = list_agents(visit.db, visit.now_ms, visit.policy)
    progress = _last_crawl(visit)
    found = listing.sorted(_lines(matching(agents, listing), progress), KEYS)
    return visit.page(
        "agents.html",
        listing=listing,
        cut=listing.cut(found),
        everybody=len(agents),
        progress=progress,
        counts=Counter(view.liveness.state.value for view in agents),
        states=STATES,
        kinds=KINDS,
        newcomers=_newcomers(agents, visit.now_ms),
        tokens=list_join_tokens(visit.db, visit.now_ms) if visit.may("admin") else [],
    )


def _newcomers(agents: list[AgentView], now_ms: int) -> list[AgentRow]:
    """Return who joined lately, the last first: somebody may have this page open to see it."""
    rows = [view.row for view in agents if view.row.retired_ms is None]
    rows = [row for row in rows if now_ms - row.joined_ms < NEW_MS]
    return sorted(rows, key=lambda row: -row.joined_ms)[:NEW_SHOWN]


def export(visit: Visit) -> Response:
    """Send the same rows as CSV."""
    listing = _listing(visit)
    agents = list_agents(visit.db, visit.now_ms, visit.policy)
    found = listing.sorted(_lines(matching(agents, listing), _last_crawl(visit)), KEYS)
    return csv_response("agents", HEADER, (_cells(line) for line in found))


def _cells(line: AgentLine) -> list[Cell]:
    view, row = line.view, line.view.row
    return [
        row.name,
        row.kind,
        view.liveness.state.value,
        view.liveness.reason,
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
    Page("GET", "/agents", "viewer", show),
    Page("GET", "/agents.csv", "viewer", export),
    Page("GET", "/agents/join-tokens.csv", "admin", export_tokens),
)
