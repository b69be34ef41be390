"""Hosts whose captures are withdrawn from distribution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.language import _
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.requests.access import Page
from manager.console.requests.visit import BACK, Question, Visit
from manager.console.tables.sources import before_of
from manager.operations.archive.archive_figures import archive_size, list_withdrawn
from manager.operations.hosts.hosts import exclude_host
from shared.errors import FormatError

__all__ = ["PAGES"]

FILTERS: Final = ("q",)
HERE: Final = "/console/withdrawn"
ROWS_AT_ONCE: Final = 1000
HEADER: Final = ("host", "since (UTC)", "segments to rewrite", "reason")


def _listing(visit: Visit) -> Listing:
    return read_listing(HERE, visit.query, filters=FILTERS, sorts=("found",), default_sort="found")


def show(visit: Visit) -> Response:
    """Show which hosts are withdrawn, and of how many segments each is still to be taken out."""
    listing, before = _listing(visit), before_of(visit)
    text = listing.filters["q"]
    rows = list_withdrawn(visit.db, before=before, limit=listing.size + 1, text=text)
    return visit.page(
        "withdrawn.html",
        listing=listing,
        before=before,
        to_rewrite=archive_size(visit.db).to_rewrite.segments,
        rows=rows[: listing.size],
        older=rows[listing.size - 1].id if len(rows) > listing.size else None,
    )


def export(visit: Visit) -> Response:
    """Send all of them as CSV."""
    return csv_response("withdrawn", HEADER, _cells(visit))


def _cells(visit: Visit) -> Iterator[list[Cell]]:
    before, text = None, _listing(visit).filters["q"]
    while rows := list_withdrawn(visit.db, before=before, limit=ROWS_AT_ONCE, text=text):
        for row in rows:
            yield [row.key, figures.iso(row.since_ms), row.segments, row.reason]
        before = rows[-1].id


def withdraw(visit: Visit) -> Response:
    """Withdraw a host, which takes it out of the crawl too; ask once."""
    host, reason = visit.form.get("host", "").strip(), visit.form.get("reason", "").strip()
    here = visit.back(HERE)
    if not reason:
        raise FormatError("console.withdrawal_reason_missing").about("reason")
    if not visit.is_confirmed:
        return visit.ask(
            Question(
                _("Withdraw %(host)s?", host=host),
                (
                    _("It is no longer crawled, and agents delete their data of it."),
                    _(
                        "From now on, requests for segments, indexes, results and lists that hold "
                        "it are answered 410."
                    ),
                    _("The next compaction deletes its captures permanently."),
                    _("http and https are two hosts: withdraw both."),
                ),
                _("Withdraw"),
                HERE,
                here,
                {"host": host, "reason": reason, BACK: here},
            )
        )
    exclude_host(visit.db, host, reason, visit.actor, visit.now_ms)
    return visit.go(here, done=_("%(host)s is withdrawn.", host=host))


def compact(visit: Visit) -> Response:
    """Rewrite segments of withdrawn hosts now, not at the next scheduled time."""
    rewritten, deleted = visit.door.archive.compact(visit.actor)
    said = _(
        "%(rewritten)s segments were rewritten, %(deleted)s were deleted.",
        rewritten=figures.count(rewritten),
        deleted=figures.count(deleted),
    )
    return visit.go(HERE, done=said)


PAGES: Final = (
    Page("POST", "/compact", "admin", compact),
    Page("GET", "/withdrawn", "viewer", show, query=(*FILTERS, *LISTED, "before")),
    Page("GET", "/withdrawn.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("POST", "/withdrawn", "operator", withdraw),
)
