"""Hosts beside agents: how far each is from each, a page of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import lazy
from manager.console.listing import Listing, whole
from manager.console.requests.visit import Visit
from manager.console.tables.files import Cell
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import HOST
from manager.console.tables.sources import OwnPage
from manager.console.tables.table import Column, Table
from manager.operations.fleet.agents import names_taking_part
from manager.operations.hosts.host_views import COUNTED_MOST, HostFilter
from manager.operations.hosts.probe_matrix import MatrixRow, every_matrix_row, matrix

__all__ = ["MATRIX", "PAGES"]

COLUMNS: Final = 12


def _names(visit: Visit) -> list[str]:
    agent = MATRIX.listing(visit).filters["agent"]
    return [agent] if agent else names_taking_part(visit.db)


def _rows(visit: Visit, listing: Listing) -> Iterator[MatrixRow]:
    return every_matrix_row(
        visit.db,
        _names(visit),
        HostFilter(domain=listing.filters["domain"]),
        descending=listing.sort.startswith("-"),
        policy=visit.policy,
    )


def _distances(visit: Visit) -> list[Column[MatrixRow]]:
    return [_distance(name, place) for place, name in enumerate(_names(visit))]


def _distance(name: str, place: int) -> Column[MatrixRow]:
    return Column(
        name, lambda row: _cell(row.cells[place].state, row.cells[place].ms_per_kb), file=name
    )


MATRIX: Final[Table[MatrixRow]] = Table(
    "/probes/matrix",
    "Distances of hosts by agent, a column each (ms/KB; ~: predicted)",
    OwnPage(_rows),
    (
        Column("host", lambda row: row.host, lazy("Host"), HOST, sort=True),
        Column("owner", lambda row: row.owner),
    ),
    filters=(
        Filter("domain", lazy("Domain"), hint="example.jp"),
        Filter(
            "agent",
            lazy("Agent"),
            "names",
            lambda visit: names_taking_part(visit.db),
            any=lazy("all"),
        ),
        Filter("columns", kind="own", about="number of the page's first agent, from 0"),
    ),
    default_sort="host",
    more=_distances,
    files="probe-matrix",
)


def show(visit: Visit) -> Response:
    """Show a page of hosts, and of agents."""
    listing = MATRIX.listing(visit)
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
    is_cut = seen.matching >= COUNTED_MOST
    cut = listing.slice(seen.rows, seen.matching, is_cut=is_cut)
    if is_cut and len(seen.rows) == listing.size:
        cut = replace(cut, has_next=True)
    return visit.page(
        "probe_matrix.html",
        seen=seen,
        list=MATRIX.page(visit, listing, cut),
        fleet=fleet,
        first_column=first,
        columns=COLUMNS,
        moment_text=figures.moment,
        fresh_ms=visit.now_ms - round(visit.policy.max_distance_age_s * 1000),
    )


def _columns(listing: Listing, fleet: list[str]) -> tuple[list[str], int]:
    """Return the agents of this page's columns, and the place of the first among all."""
    if listing.filters["agent"]:
        return [listing.filters["agent"]], 0
    wanted = whole(listing.filters["columns"] or "0", "columns", 6)
    first = min(wanted, max(0, len(fleet) - 1)) // COLUMNS * COLUMNS
    return fleet[first : first + COLUMNS], first


def _cell(state: str, ms_per_kb: float | None) -> Cell:
    """Return a distance as CSV has it: what is predicted is marked, what is unreachable said."""
    if state == "predicted":
        return None if ms_per_kb is None else f"~{ms_per_kb:.4g}"
    return ms_per_kb if state != "unreachable" else state


PAGES: Final = MATRIX.pages(show)
