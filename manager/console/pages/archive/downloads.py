"""Downloads of third parties with their progress, and selections made as files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.language import _
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.pages.logs.reports import before_of
from manager.console.requests.access import Page
from manager.console.requests.visit import Question, Visit
from manager.operations.archive import selection_jobs
from manager.operations.archive.downloads import STATES, DownloadRow, list_downloads
from manager.operations.archive.selection_jobs import OwnedJob, list_jobs, remove_job
from manager.operations.people.clients import list_clients

__all__ = ["PAGES"]

FILTERS: Final = ("client", "state")
DOWNLOADS: Final = "/console/downloads"
JOBS: Final = "/console/archive-jobs"
ROWS_AT_ONCE: Final = 1000
DOWNLOAD_HEADER: Final = (
    "id",
    "client",
    "token",
    "what",
    "state",
    "sent (bytes)",
    "size (bytes)",
    "requests",
    "begun (UTC)",
    "last (UTC)",
    "problem",
)
JOB_HEADER: Final = (
    "id",
    "client",
    "function",
    "query",
    "state",
    "submitted (UTC)",
    "finished (UTC)",
    "done",
    "total",
    "size (bytes)",
    "sha256",
    "problem",
)


def _listing(visit: Visit, path: str) -> Listing:
    return read_listing(path, visit.query, filters=FILTERS, sorts=("begun",), default_sort="begun")


def _names(visit: Visit) -> list[str]:
    return [detail.client.name for detail in list_clients(visit.db, visit.now_ms)]


def show_downloads(visit: Visit) -> Response:
    """Show downloads, those that began last first."""
    listing, before = _listing(visit, DOWNLOADS), before_of(visit)
    rows = _downloads(visit, listing, before, listing.size + 1)
    return visit.page(
        "downloads.html",
        listing=listing,
        before=before,
        rows=rows[: listing.size],
        older=rows[listing.size - 1].id if len(rows) > listing.size else None,
        clients=_names(visit),
        states=STATES,
    )


def _downloads(visit: Visit, listing: Listing, before: int | None, limit: int) -> list[DownloadRow]:
    return list_downloads(
        visit.db,
        visit.now_ms,
        client=listing.filters["client"],
        state=listing.filters["state"],
        before=before,
        limit=limit,
    )


def export_downloads(visit: Visit) -> Response:
    """Send all downloads that fit as CSV."""
    listing = _listing(visit, DOWNLOADS)
    return csv_response("downloads", DOWNLOAD_HEADER, _download_cells(visit, listing))


def _download_cells(visit: Visit, listing: Listing) -> Iterator[list[Cell]]:
    before: int | None = None
    while rows := _downloads(visit, listing, before, ROWS_AT_ONCE):
        for row in rows:
            yield [
                row.id,
                row.client,
                row.token_id,
                row.name,
                row.state,
                row.sent_bytes,
                row.size_bytes or None,
                row.requests,
                figures.iso(row.begun_ms),
                figures.iso(row.last_ms),
                str(row.problem or ""),
            ]
        before = rows[-1].id


def show_jobs(visit: Visit) -> Response:
    """Show jobs, newest first."""
    listing, before = _listing(visit, JOBS), before_of(visit)
    rows = _jobs(visit, listing, before, listing.size + 1)
    return visit.page(
        "archive_jobs.html",
        listing=listing,
        before=before,
        rows=rows[: listing.size],
        older=rows[listing.size - 1].id if len(rows) > listing.size else None,
        clients=_names(visit),
        states=selection_jobs.STATES,
    )


def _jobs(visit: Visit, listing: Listing, before: int | None, limit: int) -> list[OwnedJob]:
    return list_jobs(
        visit.db,
        client=listing.filters["client"],
        state=listing.filters["state"],
        before=before,
        limit=limit,
    )


def export_jobs(visit: Visit) -> Response:
    """Send all jobs that fit as CSV."""
    return csv_response("archive-jobs", JOB_HEADER, _job_cells(visit, _listing(visit, JOBS)))


def _job_cells(visit: Visit, listing: Listing) -> Iterator[list[Cell]]:
    before: int | None = None
    while rows := _jobs(visit, listing, before, ROWS_AT_ONCE):
        for row in rows:
            yield [
                row.id,
                row.client,
                row.function,
                row.query,
                row.state,
                figures.iso(row.submitted_ms),
                None if row.finished_ms is None else figures.iso(row.finished_ms),
                row.done,
                row.total,
                row.size_bytes or None,
                row.sha256,
                str(row.problem or ""),
            ]
        before = rows[-1].id


def remove(visit: Visit) -> Response:
    """Remove a job and its result; ask once."""
    number = visit.form.get("job", "")
    if not visit.is_confirmed:
        return visit.ask(
            Question(
                _("Remove job %(number)s?", number=number),
                (_("Its result is no longer available. The client may submit it again."),),
                _("Remove"),
                f"{JOBS}/remove",
                JOBS,
                {"job": number},
            )
        )
    known = number.isascii() and number.isdigit() and len(number) < 19
    remove_job(visit.db, int(number) if known else 0, visit.actor, visit.now_ms)
    return visit.go(JOBS, done=_("Job %(number)s is removed.", number=number))


PAGES: Final = (
    Page("GET", "/downloads", "viewer", show_downloads, query=(*FILTERS, *LISTED, "before")),
    Page("GET", "/downloads.csv", "viewer", export_downloads, query=(*FILTERS, *LISTED)),
    Page("GET", "/archive-jobs", "viewer", show_jobs, query=(*FILTERS, *LISTED, "before")),
    Page("GET", "/archive-jobs.csv", "viewer", export_jobs, query=(*FILTERS, *LISTED)),
    Page("POST", "/archive-jobs/remove", "admin", remove),
)
