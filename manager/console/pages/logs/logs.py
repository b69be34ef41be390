"""Lines of crawl logs, newest first: an answer comes at once, and the search continues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.fleet.agents import named_agents
from manager.operations.logs.log_filters import KINDS, Wanted, read_moment
from manager.operations.logs.log_lines import FoundLine, FoundLines, Mark
from manager.operations.logs.reports import list_reports
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["PAGES"]

HERE: Final = "/console/logs"
FILTERS: Final = ("host", "status", "url", "agent", "kind", "since", "until", "held")
STATUSES: Final = ("bad", "none", "2xx", "3xx", "4xx", "5xx", "404", "500", "503")
FIRST_PATIENCE_S: Final = 0.03
"""A page must answer at once; its parts continue the search."""

PATIENCE_S: Final = 1.0
ROWS_AT_ONCE: Final = 1000
DAY_MS: Final = 86_400_000
HEADER: Final = (
    "agent",
    "log",
    "line",
    "time (UTC)",
    "time by",
    "since (UTC)",
    "until (UTC)",
    "round",
    "kind",
    "held as",
    "status",
    "request (bytes)",
    "response (bytes)",
    "elapsed (ms)",
    "url",
)


@frozen
class SearchProgress:
    """Progress of a search. more: its next part; older: the next page; both may be missing.

    shown: lines so far. back_to_ms: how far back it has looked.
    """

    shown: int
    more: str
    older: str
    back_to_ms: int | None


def _listing(visit: Visit) -> Listing:
    return read_listing(HERE, visit.query, filters=FILTERS, sorts=("time",), default_sort="time")


def _wanted(filters: Mapping[str, str]) -> Wanted:
    return Wanted(
        host=filters["host"],
        url=filters["url"],
        status=filters["status"],
        kind=filters["kind"],
        agent=filters["agent"],
        since_ms=read_moment(filters["since"], "from", is_end=False),
        until_ms=read_moment(filters["until"], "to", is_end=True),
        quarantined=filters["held"] == "no",
    )


def _mark(visit: Visit) -> Mark | None:
    text = visit.query.get("mark", "")
    return Mark.read(text) if text else None


def _shown(visit: Visit) -> int:
    text = visit.query.get("shown", "0")
    if not (text.isascii() and text.isdigit() and len(text) <= 6):
        raise FormatError("console.whole_number", name="shown", value=text[:40])
    return int(text)


def show(visit: Visit) -> Response:
    """Show the first lines that are found at once."""
    listing = _listing(visit)
    problem, found = None, FoundLines([], None, 0, None, 0)
    try:
        if not visit.is_live:  # the open page keeps the lines that it has
            found = _found(visit, listing, listing.size, FIRST_PATIENCE_S)
    except FormatError as error:
        problem = error.message  # beside the form, which keeps the typed values
    return visit.page(
        "logs.html",
        status=400 if problem and not visit.is_part else 200,
        listing=listing,
        newest=next(iter(list_reports(visit.db, limit=1)), None),
        problem=problem,
        found=found,
        going=_search_progress(listing, found, 0),
        marked="mark" in visit.query,
        days=[figures.iso(visit.now_ms - back * DAY_MS)[:10] for back in (0, 1)],
        kinds=KINDS,
        statuses=STATUSES,
        agents=[one.name for one in named_agents(visit.db)],
    )


def more(visit: Visit) -> Response:
    """Send the lines that the next second of a search finds."""
    listing, shown = _listing(visit), _shown(visit)
    found = _found(visit, listing, max(1, listing.size - shown), PATIENCE_S)
    return visit.page(
        "log_rows.html",
        listing=listing,
        found=found,
        going=_search_progress(listing, found, shown),
        marked=False,
    )


def _found(visit: Visit, listing: Listing, most: int, patience_s: float) -> FoundLines:
    return visit.door.log_lines.find(
        visit.db,
        _wanted(listing.filters),
        mark=_mark(visit),
        most=most,
        patience_s=patience_s,
    )


def _search_progress(listing: Listing, found: FoundLines, shown: int) -> SearchProgress:
    shown += len(found.lines)
    if found.mark is None:
        return SearchProgress(shown, "", "", found.back_to_ms)
    mark = str(found.mark)
    if shown >= listing.size:
        return SearchProgress(shown, "", listing.url(mark=mark), found.back_to_ms)
    more_url = listing.url(f"{HERE}/more", mark=mark, shown=shown)
    return SearchProgress(shown, more_url, listing.url(mark=mark), found.back_to_ms)


def export(visit: Visit) -> Response:
    """Send all lines that match as CSV, however long the search takes."""
    wanted = _wanted(_listing(visit).filters)
    return csv_response("log-lines", HEADER, _cells(visit, wanted))


def _cells(visit: Visit, wanted: Wanted) -> Iterator[list[Cell]]:
    mark: Mark | None = None
    while True:
        found = visit.door.log_lines.find(visit.db, wanted, mark=mark, most=ROWS_AT_ONCE)
        yield from map(_row, found.lines)
        mark = found.mark
        if mark is None:
            return


def _row(one: FoundLine) -> list[Cell]:
    line = one.line
    return [
        one.agent,
        one.log,
        line.line,
        None if one.at_ms is None else figures.iso(one.at_ms),
        "" if one.at_ms is None else "Date" if one.is_exact else "estimate",
        None if one.since_ms is None else figures.iso(one.since_ms),
        None if one.until_ms is None else figures.iso(one.until_ms),
        line.round,
        line.kind,
        line.unit,
        line.status,
        line.request_bytes,
        line.response_bytes,
        line.elapsed_ms,
        line.url,
    ]


PAGES: Final = (
    Page("GET", "/logs", "viewer", show, query=(*FILTERS, *LISTED, "mark")),
    Page("GET", "/logs/more", "viewer", more, query=(*FILTERS, *LISTED, "mark", "shown")),
    Page("GET", "/logs.csv", "viewer", export, query=(*FILTERS, *LISTED)),
)
