"""The crawl logs that were taken, of one agent or of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import lazy
from manager.console.listing import Listing
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.streamed_files import zip_response
from manager.console.tables.filters import Filter, agent_names
from manager.console.tables.kinds import AGENT, BYTES, ID, MOMENT, NUMBER
from manager.console.tables.sources import ByCursor
from manager.console.tables.table import Column, Table
from manager.operations.fleet.agents import named_agents
from manager.operations.logs import source_files
from manager.operations.logs.reports import ReportRow, list_reports
from shared.frozen import frozen

__all__ = ["PAGES", "REPORTS", "Report"]

KINDS: Final = {
    "log-sums": lazy("volume and time by URL"),
    "distances": lazy("distances"),
    "volumes": lazy("volumes"),
    "costs": lazy("costs"),
    "lists": lazy("lists"),
}


@frozen
class Report:
    """A report with the name of its agent; empty: no agent has its number."""

    row: ReportRow
    agent: str

    @property
    def id(self) -> int:
        """Return its number."""
        return self.row.id

    @property
    def lines_address(self) -> str:
        """Return where the lines are that its agent logged between its moments."""
        query = {"agent": self.agent}
        if self.row.since_ms is not None and self.row.until_ms is not None:
            query["since"] = figures.iso(self.row.since_ms)
            query["until"] = figures.iso(self.row.until_ms)
        return link("logs", **query)


def _rows(visit: Visit, listing: Listing, before: int | None, limit: int) -> Sequence[Report]:
    names = {one.id: one.name for one in named_agents(visit.db)}
    agent = listing.filters["agent"]
    rows = list_reports(visit.db, limit=limit, before_id=before, agent=agent)
    return [Report(row, names.get(row.agent_id, "")) for row in rows]


REPORTS: Final[Table[Report]] = Table(
    "/reports",
    "Reports",
    ByCursor(_rows),
    (
        Column("id", lambda one: one.row.id, kind=ID),
        Column("agent", lambda one: one.agent, lazy("Agent"), AGENT),
        Column("name", lambda one: one.row.name, lazy("Log"), style="path"),
        Column("received", lambda one: one.row.received_ms, lazy("Received"), MOMENT),
        Column("since", lambda one: one.row.since_ms, lazy("Covers"), MOMENT, about="first line"),
        Column("until", lambda one: one.row.until_ms, kind=MOMENT, about="last line"),
        Column("lines", lambda one: one.row.lines, lazy("Lines"), NUMBER),
        Column(
            "quarantined",
            lambda one: one.row.quarantined,
            lazy("Quarantined"),
            NUMBER,
            about="lines about hosts that the agent did not own then",
        ),
        Column("size", lambda one: one.row.size_bytes, lazy("Size"), BYTES),
        Column("sha256", lambda one: one.row.sha256),
    ),
    page_columns=("received", "agent", "name", "since", "lines", "quarantined", "size"),
    row_name="name",
    filters=(Filter("agent", lazy("Agent"), "names", agent_names),),
    default_sort="received",
)


def take(visit: Visit) -> Response:
    """Send the files of the source of one kind, as `prsm export` writes them, in one archive."""
    kind = visit.form.get("kind", "")
    with visit.services.scratch.turn() as place:
        files = source_files.export(visit.db, kind, place, visit.actor, visit.now_ms)
        return zip_response(kind, files, place.folder)


PAGES: Final = (
    *REPORTS.pages(lambda visit: visit.page("reports.html", list=REPORTS.view(visit), kinds=KINDS)),
    Page("POST", "/reports/take", "operator", take, form="/reports"),
)
