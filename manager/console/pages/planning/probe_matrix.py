"""Hosts beside agents: how far each is from each, a page of both."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.fleet.agents import names_taking_part
from manager.operations.hosts.host_views import HostFilter
from manager.operations.hosts.probe_matrix import MatrixRow, every_matrix_row, matrix
from shared.errors import FormatError

__all__ = ["PAGES"]

FILTERS: Final = ("domain", "agent", "columns")
COLUMNS: Final = 12


def _listing(visit: Visit) -> Listing:
    return read_listing(
        "/console/probes/matrix",
        visit.query,
        filters=FILTERS,
        sorts=("host",),
        default_sort="host",
    )


def show(visit: Visit) -> Response:
    """Show a page of hosts, and of agents."""
    listing = _listing(visit)
    fleet = names_taking_part(visit.db)
    names, first = _columns(listing, fleet)
    start = (listing.page - 1) * listing.size
    seen = matrix(
        visit.db,
        names,
        HostFilter(domain=listing.filters["domain"]),
        descending=listing.sort.startswith("-"),
        limit=listing.size,
        offset=start,
        policy=visit.policy,
    )
    return visit.page(
        "probe_matrix.html",
        seen=seen,
        listing=listing,
        fleet=fleet,
        first_column=first,
        columns=COLUMNS,
        first=start + 1 if seen.rows else 0,
        last=start + len(seen.rows),
        moment_text=figures.moment,
        fresh_ms=visit.now_ms - round(visit.policy.max_distance_age_s * 1000),
    )


def _columns(listing: Listing, fleet: list[str]) -> tuple[list[str], int]:
    """Return the agents of this page's columns, and the place of the first among all."""
    if listing.filters["agent"]:
        return [listing.filters["agent"]], 0
    text = listing.filters["columns"]
    if text and not (text.isascii() and text.isdigit() and len(text) <= 6):
        raise FormatError("console.whole_number", name="columns", value=text[:40])
    first = min(int(text or 0), max(0, len(fleet) - 1)) // COLUMNS * COLUMNS
    return fleet[first : first + COLUMNS], first


def export(visit: Visit) -> Response:
    """Send all hosts that match beside all agents as CSV, however many."""
    listing = _listing(visit)
    agent = listing.filters["agent"]
    names = [agent] if agent else names_taking_part(visit.db)
    rows = every_matrix_row(
        visit.db,
        names,
        HostFilter(domain=listing.filters["domain"]),
        descending=listing.sort.startswith("-"),
        policy=visit.policy,
    )
    return csv_response("probe-matrix", ("host", "owner", *names), map(_cells, rows))


def _cells(row: MatrixRow) -> list[Cell]:
    return [row.host, row.owner, *(_cell(cell.state, cell.ms_per_kb) for cell in row.cells)]


def _cell(state: str, ms_per_kb: float | None) -> Cell:
    """Return a distance as CSV has it: what is predicted is marked, what is unreachable said."""
    if state == "predicted":
        return None if ms_per_kb is None else f"~{ms_per_kb:.4g}"
    return ms_per_kb if state != "unreachable" else state


PAGES: Final = (
    Page("GET", "/probes/matrix", "viewer", show, query=(*FILTERS, *LISTED)),
    Page("GET", "/probes/matrix.csv", "viewer", export, query=(*FILTERS, *LISTED)),
)
