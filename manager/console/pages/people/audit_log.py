"""The audit log, newest first, with its alerts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from manager.console.language import lazy
from manager.console.listing import Listing
from manager.console.messages.audit_words import acts_about
from manager.console.messages.sentences import actor_meant
from manager.console.notices import detail_text
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import ID, MOMENT, PATH
from manager.console.tables.sources import ByCursor
from manager.console.tables.table import Column, Table
from manager.operations.people.audit_log import AuditRow, audit_page

__all__ = ["AUDIT", "PAGES"]


def _rows(visit: Visit, listing: Listing, before: int | None, limit: int) -> Sequence[AuditRow]:
    return audit_page(
        visit.db,
        limit=limit,
        before_id=before,
        action=listing.filters["action"],
        subject=listing.filters["subject"],
        actor=actor_meant(listing.filters["actor"]),
        alerts=listing.filters["alerts"] == "yes",
    )


AUDIT: Final[Table[AuditRow]] = Table(
    "/audit",
    "Audit log",
    ByCursor(_rows),
    (
        Column("id", lambda row: row.id, kind=ID, about="number of the row"),
        Column(
            "time",
            lambda row: row.at_ms,
            lazy("Time"),
            MOMENT,
            beside="request",
            style="narrow-column",
        ),
        Column("who", lambda row: row.actor_name, lazy("Actor"), about="name of the actor"),
        Column("kind", lambda row: row.actor_kind, about="user, agent, client or manager"),
        Column("action", lambda row: row.action, lazy("Action"), about="code of the action"),
        Column("subject", lambda row: row.subject, lazy("Subject"), style="key"),
        Column(
            "detail",
            lambda row: row.detail,
            lazy("Detail"),
            PATH,
            style="wide",
            lang="en",
            about="parameters of the action",
        ),
        Column("alert", lambda row: row.alert, about="whether the action raised an alert"),
        Column("request", lambda row: row.request_id, lazy("request"), about="id of the request"),
        Column("address", lambda row: row.address, about="IP address of the actor"),
        Column("browser", lambda row: row.browser, about="User-Agent of the actor"),
    ),
    row_name="action",
    filters=(
        Filter("action", lazy("About"), "own", about="an action, or a group of them by its prefix"),
        Filter("subject", lazy("Subject"), hint=lazy("full name")),
        Filter("actor", lazy("Actor"), hint=lazy("full name")),
        Filter("alerts", lazy("Show"), "labels", {"yes": lazy("alerts only")}, any=lazy("all")),
    ),
    default_sort="time",
)


def show(visit: Visit) -> Response:
    """Show the audit."""
    return visit.page(
        "audit.html", list=AUDIT.view(visit), about=acts_about(), detail_text=detail_text
    )


PAGES: Final = AUDIT.pages(show)
