"""Measured pairs of agent and unit, by age or by distance."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response, moment_cell
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.fleet.agents import names_taking_part
from manager.operations.planning.distance_pairs import (
    REACHED,
    PairFilter,
    PairRow,
    every_pair,
    pairs,
)
from shared.errors import FormatError

__all__ = ["PAGES", "days_of"]

FILTERS: Final = ("agent", "host", "older", "reached")
HEADER: Final = (
    "agent",
    "host",
    "ms/KB",
    "measured (UTC)",
    "kind",
    "round",
    "requests",
    "failed",
    "unreachable since (UTC)",
)


def _listing(visit: Visit) -> Listing:
    return read_listing(
        "/console/probes/distances",
        visit.query,
        filters=FILTERS,
        sorts=("age", "distance"),
        default_sort="age",
    )


def _filter(listing: Listing) -> PairFilter:
    given = listing.filters
    return PairFilter(given["agent"], given["host"], days_of(given["older"]), given["reached"])


def show(visit: Visit) -> Response:
    """Show a page of them."""
    listing = _listing(visit)
    start = (listing.page - 1) * listing.size
    # One more than is shown says whether there is another page; all of them are never counted.
    found = pairs(
        visit.db,
        _filter(listing),
        visit.now_ms,
        sort=listing.sort,
        limit=listing.size + 1,
        offset=start,
    )
    rows = found[: listing.size]
    return visit.page(
        "probe_pairs.html",
        rows=rows,
        listing=listing,
        fleet=names_taking_part(visit.db),
        reached=[name for name in REACHED if name],
        first=start + 1 if rows else 0,
        last=start + len(rows),
        has_next=len(found) > listing.size,
    )


def export(visit: Visit) -> Response:
    """Send all that match as CSV, however many."""
    listing = _listing(visit)
    found = every_pair(visit.db, _filter(listing), visit.now_ms, sort=listing.sort)
    return csv_response("distances", HEADER, map(_cells, found))


def _cells(row: PairRow) -> list[Cell]:
    return [
        row.agent,
        row.host,
        row.ms_per_kb,
        figures.iso(row.measured_ms),
        row.kind,
        row.round,
        row.lines,
        row.failed,
        moment_cell(row.unreachable_since_ms),
    ]


def days_of(text: str) -> float | None:
    """Return the typed age, or None for an empty field. Raises FormatError."""
    if not text:
        return None
    try:
        return float(text)
    except ValueError as error:
        raise FormatError("console.older_than", value=text[:20]).about("older") from error


PAGES: Final = (
    Page("GET", "/probes/distances", "viewer", show, query=(*FILTERS, *LISTED)),
    Page("GET", "/probes/distances.csv", "viewer", export, query=(*FILTERS, *LISTED)),
)
