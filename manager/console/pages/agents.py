"""The table of agents, where the source had its page of robots (`/servlets/listrobot`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from starlette.responses import Response

from manager.assignment import LivenessState
from manager.console import figures
from manager.console.access import Page
from manager.console.csv_export import Cell, csv_response
from manager.console.listing import Listing, read_listing
from manager.console.visit import Visit
from manager.operations.agents import AgentView, list_agents, list_join_tokens

__all__ = ["PAGES"]

STATES: Final = tuple(state.value for state in LivenessState)
_RANK: Final = {state: rank for rank, state in enumerate(STATES)}
KINDS: Final = ("sync", "plain")

KEYS: Final[dict[str, Callable[[AgentView], Any]]] = {
    "name": lambda view: view.row.name,
    "state": lambda view: (_RANK[view.liveness.state.value], view.row.name),
    "contact": lambda view: view.row.last_contact_ms,
    "next": lambda view: view.row.promised_ms,
    "work": lambda view: view.row.last_work_ms,
    "version": lambda view: view.row.version or None,
    "generation": lambda view: view.row.generation,
    "list": lambda view: view.row.list_sent_ms,
    "restart": lambda view: view.row.restart_asked_ms,
    "disk": lambda view: view.row.disk_free_bytes,
    "skew": lambda view: abs(view.row.skew_ms),
    "units": lambda view: view.units_owned,
    "cost": lambda view: view.row.load_ms,
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
    "generation held",
    "list sent (UTC)",
    "restart ordered (UTC)",
    "restart asked (UTC)",
    "restart handled (UTC)",
    "pages of a unit on its next lists",
    "disk free (bytes)",
    "clock skew (ms)",
    "reports waiting",
    "units owned",
    "units to crawl now",
    "units to probe now",
    "cost (ms)",
)


def _listing(visit: Visit) -> Listing:
    return read_listing(
        "/console/agents",
        visit.query,
        filters=("q", "state", "kind"),
        sorts=tuple(KEYS),
        default_sort="name",
    )


def _matching(agents: list[AgentView], listing: Listing) -> list[AgentView]:
    text, state = listing.filters["q"].lower(), listing.filters["state"]
    kind = listing.filters["kind"]
    # Retired ones are kept for ever; who wants to see them asks for them.
    return [
        view
        for view in agents
        if text in view.row.name
        and kind in ("", view.row.kind)
        and (
            view.liveness.state.value == state if state else view.liveness.state.value != "retired"
        )
    ]


def show(visit: Visit) -> Response:
    """Show the table."""
    listing = _listing(visit)
    agents = list_agents(visit.db, visit.now_ms, visit.policy)
    found = listing.sorted(_matching(agents, listing), KEYS)
    return visit.page(
        "agents.html",
        headers={"HX-Push-Url": listing.url(page=listing.page)} if visit.is_part else None,
        listing=listing,
        cut=listing.cut(found),
        everybody=len(agents),
        counts=Counter(view.liveness.state.value for view in agents),
        states=STATES,
        kinds=KINDS,
        tokens=list_join_tokens(visit.db, visit.now_ms) if visit.may("admin") else [],
    )


def export(visit: Visit) -> Response:
    """Send the same rows as CSV."""
    listing = _listing(visit)
    agents = list_agents(visit.db, visit.now_ms, visit.policy)
    found = listing.sorted(_matching(agents, listing), KEYS)
    return csv_response("agents", HEADER, (_cells(view) for view in found))


def _cells(view: AgentView) -> list[Cell]:
    row = view.row
    return [
        row.name,
        row.kind,
        view.liveness.state.value,
        view.liveness.reason,
        _time(row.last_contact_ms),
        row.last_contact,
        _time(row.last_work_ms),
        _time(row.promised_ms),
        row.version,
        row.generation,
        row.generation_held,
        _time(row.list_sent_ms),
        _time(row.restart_ordered_ms),
        _time(row.restart_asked_ms),
        _time(row.restart_handled_ms),
        row.list_limit,
        row.disk_free_bytes,
        row.skew_ms,
        row.reports_waiting,
        view.units_owned,
        view.crawl_rights,
        view.probe_rights,
        round(row.load_ms),
    ]


def _time(at_ms: int | None) -> str | None:
    return None if at_ms is None else figures.iso(at_ms)


PAGES: Final = (
    Page("GET", "/agents", "viewer", show),
    Page("GET", "/agents.csv", "viewer", export),
)
