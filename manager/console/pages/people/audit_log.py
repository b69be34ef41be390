"""The audit log, newest first, with its alerts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.messages.act_words import acts_about
from manager.console.messages.sentences import actor_meant
from manager.console.notices import detail_text
from manager.console.pages.logs.reports import before_of
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.people.audit_log import AuditRow, audit_page

__all__ = ["PAGES"]

FILTERS: Final = ("action", "subject", "actor", "alerts")
ROWS_AT_ONCE: Final = 1000
HEADER: Final = (
    "id",
    "time (UTC)",
    "who",
    "kind",
    "action",
    "subject",
    "detail",
    "alert",
    "request",
    "address",
    "browser",
)


def _listing(visit: Visit) -> Listing:
    return read_listing(
        "/console/audit",
        visit.query,
        filters=FILTERS,
        sorts=("time",),
        default_sort="time",
    )


def _page(visit: Visit, listing: Listing, before: int | None, limit: int) -> list[AuditRow]:
    return audit_page(
        visit.db,
        limit=limit,
        before_id=before,
        action=listing.filters["action"],
        subject=listing.filters["subject"],
        actor=actor_meant(listing.filters["actor"]),
        alerts=listing.filters["alerts"] == "yes",
    )


def show(visit: Visit) -> Response:
    """Show the audit."""
    listing = _listing(visit)
    before = before_of(visit)
    rows = _page(visit, listing, before, listing.size + 1)
    return visit.page(
        "audit.html",
        listing=listing,
        rows=[(row, detail_text(row.detail)) for row in rows[: listing.size]],
        older=rows[listing.size - 1].id if len(rows) > listing.size else None,
        before=before,
        about=acts_about(),
    )


def export(visit: Visit) -> Response:
    """Send all rows that match as CSV."""
    return csv_response("audit", HEADER, _cells(visit, _listing(visit)))


def _cells(visit: Visit, listing: Listing) -> Iterator[list[Cell]]:
    before: int | None = None
    while rows := _page(visit, listing, before, ROWS_AT_ONCE):
        for row in rows:
            yield [
                row.id,
                figures.iso(row.at_ms),
                row.actor_name,
                row.actor_kind,
                row.action,
                row.subject,
                row.detail,
                row.alert,
                row.request_id,
                row.address,
                row.browser,
            ]
        before = rows[-1].id


PAGES: Final = (
    Page("GET", "/audit", "viewer", show, query=(*FILTERS, *LISTED, "before")),
    Page("GET", "/audit.csv", "viewer", export, query=(*FILTERS, *LISTED)),
)
