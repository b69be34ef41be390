"""Lines of crawl logs, newest first: an answer comes at once, and the search continues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import lazy
from manager.console.listing import Cut, Listing, whole
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter, agent_names
from manager.console.tables.kinds import BYTES, DURATION, ID, MOMENT, NUMBER
from manager.console.tables.sources import OwnPage
from manager.console.tables.table import Column, Table, View
from manager.operations.logs.log_filters import KINDS, Wanted, read_moment
from manager.operations.logs.log_lines import FoundLine, FoundLines, Mark
from manager.operations.logs.reports import list_reports
from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["LINES", "PAGES"]

HERE: Final = "/console/logs"
STATUSES: Final = ("bad", "none", "2xx", "3xx", "4xx", "5xx", "404", "500", "503")
FIRST_PATIENCE_S: Final = 0.03
"""A page must answer at once; its parts continue the search."""

PATIENCE_S: Final = 1.0
ROWS_AT_ONCE: Final = 1000
DAY_MS: Final = 86_400_000


@frozen
class SearchProgress:
    """Progress of a search. more: its next part; older: the next page; both may be missing.

    shown: lines so far. back_to_ms: how far back it has looked.
    """

    shown: int
    more: str
    older: str
    back_to_ms: int | None


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


def _every(visit: Visit, listing: Listing) -> Iterator[FoundLine]:
    """Yield all lines that match, however long the search takes."""
    wanted = _wanted(listing.filters)
    mark: Mark | None = None
    while True:
        found = visit.services.log_lines.find(visit.db, wanted, mark=mark, most=ROWS_AT_ONCE)
        yield from found.lines
        mark = found.mark
        if mark is None:
            return


LINES: Final[Table[FoundLine]] = Table(
    "/logs",
    "Lines of crawl logs",
    OwnPage(_every),
    (
        Column("agent", lambda one: one.agent, lazy("Agent")),
        Column("log", lambda one: one.log, about="name of the log"),
        Column("line", lambda one: one.line.line, kind=ID, about="number of the line in its log"),
        Column("time", lambda one: one.at_ms, lazy("Time"), MOMENT),
        Column(
            "time_by",
            lambda one: "" if one.at_ms is None else "Date" if one.is_exact else "estimate",
            about="source of the time: the answer's Date, or the place of the line in its log",
        ),
        Column("since", lambda one: one.since_ms, kind=MOMENT, about="earliest time"),
        Column("until", lambda one: one.until_ms, kind=MOMENT, about="latest time"),
        Column("round", lambda one: one.line.round, kind=ID),
        Column("kind", lambda one: one.line.kind, about="kind of the request"),
        Column("held_as", lambda one: one.line.unit, about="unit; empty: quarantined"),
        Column("status", lambda one: one.line.status, lazy("Status"), NUMBER),
        Column("request", lambda one: one.line.request_bytes, kind=BYTES),
        Column("response", lambda one: one.line.response_bytes, lazy("Received"), BYTES),
        Column("elapsed", lambda one: one.line.elapsed_ms, lazy("Took"), DURATION),
        Column("url", lambda one: one.line.url, lazy("URL"), style="wide path"),
    ),
    page_columns=("status", "url", "agent", "time", "response", "elapsed"),
    row_name="url",
    filters=(
        Filter("host", lazy("Host"), hint=lazy("www.example.jp or *.example.jp")),
        Filter("status", lazy("Status"), "own", about="a status, 2xx to 5xx, none or bad"),
        Filter("url", lazy("URL"), hint=lazy("any part of it")),
        Filter("agent", lazy("Agent"), "names", agent_names),
        Filter("kind", lazy("Kind"), "words", KINDS),
        Filter("since", kind="own", about="from, ISO 8601"),
        Filter("until", kind="own", about="to, ISO 8601"),
        Filter("held", kind="own", about="no: quarantined lines only"),
    ),
    default_sort="time",
    files="log-lines",
)


def _mark(visit: Visit) -> Mark | None:
    text = visit.query.get("mark", "")
    return Mark.read(text) if text else None


def _shown(visit: Visit) -> int:
    return whole(visit.query.get("shown", "0"), "shown", 6)


def show(visit: Visit) -> Response:
    """Show the first lines that are found at once."""
    listing = LINES.listing(visit)
    problem, found = None, FoundLines([], None, 0, None, 0)
    try:
        if not visit.is_live:  # the open page keeps the lines that it has
            found = _found(visit, listing, listing.size, FIRST_PATIENCE_S)
    except FormatError as error:
        problem = error.message  # beside the form, which keeps the typed values
    return visit.page(
        "logs.html",
        status=400 if problem and not visit.is_part else 200,
        list=_view(visit, listing, found),
        newest=next(iter(list_reports(visit.db, limit=1)), None),
        problem=problem,
        found=found,
        going=_search_progress(listing, found, 0),
        marked="mark" in visit.query,
        days=[figures.iso(visit.now_ms - back * DAY_MS)[:10] for back in (0, 1)],
        statuses=STATUSES,
    )


def _view(visit: Visit, listing: Listing, found: FoundLines) -> View[FoundLine]:
    many = len(found.lines)
    return LINES.page(visit, listing, Cut(found.lines, many, 1, many, has_next=False))


def more(visit: Visit) -> Response:
    """Send the lines that the next second of a search finds."""
    listing, shown = LINES.listing(visit), _shown(visit)
    found = _found(visit, listing, max(1, listing.size - shown), PATIENCE_S)
    return visit.page(
        "log_rows.html",
        list=_view(visit, listing, found),
        found=found,
        going=_search_progress(listing, found, shown),
        marked=False,
    )


def _found(visit: Visit, listing: Listing, most: int, patience_s: float) -> FoundLines:
    return visit.services.log_lines.find(
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


PAGES: Final = (
    *LINES.pages(show, "mark"),
    Page("GET", "/logs/more", "viewer", more, query=(*LINES.query, "mark", "shown")),
)
