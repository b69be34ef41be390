"""Measured pairs of agent and unit, by age or by distance."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from starlette.responses import Response

from manager.console.language import lazy
from manager.console.listing import Listing
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import AGENT, AGO, FIGURE, HOST, ID, MOMENT, NUMBER
from manager.console.tables.sources import OwnPage
from manager.console.tables.table import Column, Table
from manager.operations.fleet.agents import names_taking_part
from manager.operations.planning.distance_pairs import (
    REACHED,
    PairFilter,
    PairRow,
    every_pair,
    pairs,
)
from shared.errors import FormatError

__all__ = ["PAGES", "PAIRS", "days_of"]


def _filter(listing: Listing) -> PairFilter:
    given = listing.filters
    return PairFilter(given["agent"], given["host"], days_of(given["older"]), given["reached"])


PAIRS: Final[Table[PairRow]] = Table(
    "/probes/distances",
    "Measured distances of agents and hosts",
    OwnPage(lambda visit, one: every_pair(visit.db, _filter(one), visit.now_ms, sort=one.sort)),
    (
        Column("agent", lambda row: row.agent, lazy("Agent"), AGENT),
        Column("host", lambda row: row.host, lazy("Host"), HOST),
        Column(
            "distance",
            lambda row: row.ms_per_kb,
            lazy("ms/KB"),
            FIGURE,
            "ms/KB",
            True,
            about="sorts the rows of an agent or a host",
        ),
        Column("measured", lambda row: row.measured_ms, lazy("Measured"), AGO, sort="age"),
        Column("kind", lambda row: row.kind, about="kind of the requests"),
        Column("round", lambda row: row.round, kind=ID),
        Column("requests", lambda row: row.lines, lazy("Requests"), NUMBER),
        Column("failed", lambda row: row.failed, lazy("No answer"), NUMBER),
        Column("unreachable_since", lambda row: row.unreachable_since_ms, kind=MOMENT),
    ),
    page_columns=("host", "agent", "distance", "measured", "requests", "failed"),
    filters=(
        Filter("host", lazy("Host"), hint="www.example.jp"),
        Filter("agent", lazy("Agent"), "names", lambda visit: names_taking_part(visit.db)),
        Filter("older", kind="own", about="days"),
        Filter("reached", lazy("Reached"), "words", [name for name in REACHED if name]),
    ),
    default_sort="age",
    files="distances",
)


def show(visit: Visit) -> Response:
    """Show a page of them."""
    listing = PAIRS.listing(visit)
    # One more than is shown says whether there is another page; all of them are never counted.
    found = pairs(
        visit.db,
        _filter(listing),
        visit.now_ms,
        sort=listing.sort,
        limit=listing.size + 1,
        offset=(listing.page - 1) * listing.size,
    )
    view = PAIRS.page(visit, listing, listing.slice(found, None))
    if not (listing.filters["agent"] or listing.filters["host"]):
        view = replace(view, columns=[_unsorted(column) for column in view.columns])
    return visit.page("probe_pairs.html", list=view)


def _unsorted(column: Column[PairRow]) -> Column[PairRow]:
    """Return a column whose heading says what sorting by distance needs."""
    if column.key != "distance":
        return column
    return replace(column, sort=False, tip=lazy("Choose an agent or a host to sort by distance"))


def days_of(text: str) -> float | None:
    """Return the typed age, or None for an empty field. Raises FormatError."""
    if not text:
        return None
    try:
        return float(text)
    except ValueError as error:
        raise FormatError("console.older_than", value=text[:20]).about("older") from error


PAGES: Final = PAIRS.pages(show)
