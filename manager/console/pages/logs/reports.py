"""The crawl logs that were taken, of one agent or of all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.language import lazy
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit, link
from manager.console.zip_stream import zip_response
from manager.operations.fleet.agents import named_agents
from manager.operations.logs import source_files
from manager.operations.logs.reports import ReportRow, list_reports
from shared.errors import FormatError

__all__ = ["PAGES", "before_of"]

FILTERS: Final = ("agent",)
KINDS: Final = {
    "log-sums": lazy("volume and time by URL"),
    "distances": lazy("distances"),
    "volumes": lazy("volumes"),
    "costs": lazy("costs"),
    "lists": lazy("lists"),
}
ROWS_AT_ONCE: Final = 1000
HEADER: Final = (
    "id",
    "agent",
    "name",
    "received (UTC)",
    "since (UTC)",
    "until (UTC)",
    "lines",
    "quarantined",
    "size (bytes)",
    "sha256",
)


def before_of(visit: Visit) -> int | None:
    """Return the id before which a list continues, from the URL."""
    text = visit.query.get("before", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text[:19]) < 2**63):
        raise FormatError("console.before", value=text[:40])
    return int(text)


def _listing(visit: Visit) -> Listing:
    return read_listing(
        "/console/reports",
        visit.query,
        filters=FILTERS,
        sorts=("received",),
        default_sort="received",
    )


def show(visit: Visit) -> Response:
    """Show reports, newest first."""
    listing = _listing(visit)
    before = before_of(visit)
    rows = list_reports(
        visit.db, limit=listing.size + 1, before_id=before, agent=listing.filters["agent"]
    )
    names = _names(visit)
    return visit.page(
        "reports.html",
        listing=listing,
        rows=rows[: listing.size],
        older=rows[listing.size - 1].id if len(rows) > listing.size else None,
        before=before,
        names=names,
        kinds=KINDS,
        lines_of=lambda row: _lines_of(row, names),
    )


def _lines_of(row: ReportRow, names: dict[int, str]) -> str:
    """Return where the lines are that an agent logged between the moments of a report."""
    query = {"agent": names.get(row.agent_id, "")}
    if row.since_ms is not None and row.until_ms is not None:
        query |= {"since": figures.iso(row.since_ms), "until": figures.iso(row.until_ms)}
    return link("logs", **query)


def _names(visit: Visit) -> dict[int, str]:
    return {one.id: one.name for one in named_agents(visit.db)}


def export(visit: Visit) -> Response:
    """Send all of them as CSV."""
    agent = _listing(visit).filters["agent"]
    return csv_response("reports", HEADER, _cells(visit, agent, _names(visit)))


def _cells(visit: Visit, agent: str, names: dict[int, str]) -> Iterator[list[Cell]]:
    before: int | None = None
    while rows := list_reports(visit.db, limit=ROWS_AT_ONCE, before_id=before, agent=agent):
        for row in rows:
            yield _row(row, names)
        before = rows[-1].id


def _row(row: ReportRow, names: dict[int, str]) -> list[Cell]:
    return [
        row.id,
        names.get(row.agent_id, ""),
        row.name,
        figures.iso(row.received_ms),
        None if row.since_ms is None else figures.iso(row.since_ms),
        None if row.until_ms is None else figures.iso(row.until_ms),
        row.lines,
        row.quarantined,
        row.size_bytes,
        row.sha256,
    ]


def take(visit: Visit) -> Response:
    """Send the files of the source of one kind, as `prsm export` writes them, in one archive."""
    kind = visit.form.get("kind", "")
    with visit.door.scratch.turn() as place:
        files = source_files.export(visit.db, kind, place, visit.actor, visit.now_ms)
        return zip_response(kind, files, place.folder)


PAGES: Final = (
    Page("GET", "/reports", "viewer", show, query=(*FILTERS, *LISTED, "before")),
    Page("GET", "/reports.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("POST", "/reports/take", "operator", take),
)
