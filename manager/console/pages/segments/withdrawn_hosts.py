"""Hosts whose captures are withdrawn from distribution."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.language import _, lazy
from manager.console.requests.page import Page
from manager.console.requests.visit import BACK, Visit
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import HOST, MOMENT, NUMBER
from manager.console.tables.sources import ByCursor
from manager.console.tables.table import Column, Table
from manager.db.archive.archive_figures import WithdrawnRow
from manager.operations.archive.archive_figures import archive_size, list_withdrawn
from manager.operations.hosts.hosts import exclude_host
from shared.errors import FormatError

__all__ = ["PAGES", "WITHDRAWN"]

HERE: Final = "/console/withdrawn"


WITHDRAWN: Final[Table[WithdrawnRow]] = Table(
    "/withdrawn",
    "Withdrawn hosts",
    ByCursor(
        lambda visit, listing, before, limit: list_withdrawn(
            visit.db, before=before, limit=limit, text=listing.filters["q"]
        )
    ),
    (
        Column("host", lambda row: row.key, lazy("Host"), HOST),
        Column("since", lambda row: row.since_ms, lazy("Since"), MOMENT),
        Column(
            "segments_to_rewrite", lambda row: row.segments, lazy("Segments to rewrite"), NUMBER
        ),
        Column("reason", lambda row: row.reason or None, lazy("Reason"), style="wide"),
    ),
    filters=(Filter("q", lazy("Host"), hint="www.example.jp"),),
    default_sort="found",
)


def show(visit: Visit) -> Response:
    """Show which hosts are withdrawn, and of how many segments each is still to be taken out."""
    return visit.page(
        "withdrawn.html",
        list=WITHDRAWN.view(visit),
        to_rewrite=archive_size(visit.db).to_rewrite.segments,
    )


def withdraw(visit: Visit) -> Response:
    """Withdraw a host, which takes it out of the crawl too; ask once."""
    host, reason = visit.form.get("host", "").strip(), visit.form.get("reason", "").strip()
    here = visit.back(HERE)
    if not reason:
        raise FormatError("console.withdrawal_reason_missing").about("reason")
    if not visit.is_confirmed:
        return visit.ask(
            _("Withdraw %(host)s?", host=host),
            _("It is no longer crawled, and agents delete their data of it."),
            _(
                "From now on, requests for segments, indexes, results and lists that hold "
                "it are answered 410."
            ),
            _("The next compaction deletes its captures permanently."),
            _("http and https are two hosts: withdraw both."),
            button=_("Withdraw"),
            back=here,
            fields={"host": host, "reason": reason, BACK: here},
        )
    exclude_host(visit.db, host, reason, visit.actor, visit.now_ms)
    return visit.go(here, done=_("%(host)s is withdrawn.", host=host))


def compact(visit: Visit) -> Response:
    """Rewrite segments of withdrawn hosts now, not at the next scheduled time."""
    rewritten, deleted = visit.services.archive.compact(visit.actor)
    said = _(
        "%(rewritten)s segments were rewritten, %(deleted)s were deleted.",
        rewritten=figures.count(rewritten),
        deleted=figures.count(deleted),
    )
    return visit.go(HERE, done=said)


PAGES: Final = (
    Page("POST", "/compact", "admin", compact, form="/withdrawn"),
    *WITHDRAWN.pages(show),
    Page("POST", "/withdrawn", "operator", withdraw, form="/withdrawn"),
)
