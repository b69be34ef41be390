"""The archive page: its size, who may download, and current downloads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.language import _
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit, link
from manager.operations.archive.archive_figures import archive_size
from manager.operations.archive.downloads import list_downloads
from manager.operations.archive.selection_jobs import list_jobs
from manager.operations.people.clients import DAY_MS, ClientDetail, list_clients, register_client
from manager.operations.segments.file_problems import (
    answer_message,
    kind_message,
    list_problems,
    problem_message,
)
from manager.operations.segments.scrub import Pace, scrub_now, scrub_progress
from shared.frozen import frozen

__all__ = ["PAGES"]

FILTERS: Final = ("q", "state")
HERE: Final = "/console/data"
SHOWN: Final = 10
FIELDS: Final = ("name", "contact", "purpose")
STATES: Final = ("enabled", "disabled")
HEADER: Final = (
    "client",
    "contact",
    "purpose",
    "registered (UTC)",
    "registered by",
    "disabled (UTC)",
    "tokens that open",
    "last used (UTC)",
    "today (bytes)",
    "31 days (bytes)",
)


@frozen
class Party:
    """A third party with what its tokens open and took. next_end_ms: of its good tokens."""

    detail: ClientDetail
    good_tokens: int
    next_end_ms: int | None
    last_used_ms: int | None
    today_bytes: int
    month_bytes: int

    @property
    def name(self) -> str:
        """Return its name."""
        return self.detail.client.name

    @property
    def state(self) -> str:
        """Return whether it is let in."""
        return "enabled" if self.detail.client.disabled_ms is None else "disabled"


def party_of(detail: ClientDetail, now_ms: int) -> Party:
    """Return a third party in the form that the page shows."""
    good = [
        token for token in detail.tokens if token.revoked_ms is None and token.expires_ms > now_ms
    ]
    used = [token.last_used_ms for token in detail.tokens if token.last_used_ms is not None]
    today = now_ms // DAY_MS
    return Party(
        detail,
        len(good),
        min((token.expires_ms for token in good), default=None),
        max(used, default=None),
        sum(row.bytes for row in detail.usage if row.day == today),
        sum(row.bytes for row in detail.usage),
    )


KEYS: Final[dict[str, Callable[[Party], Any]]] = {
    "name": lambda party: party.name,
    "state": lambda party: (party.state == "disabled", party.name),
    "tokens": lambda party: party.good_tokens,
    "used": lambda party: party.last_used_ms,
    "today": lambda party: party.today_bytes,
    "month": lambda party: party.month_bytes,
}


def _listing(visit: Visit) -> Listing:
    return read_listing(HERE, visit.query, filters=FILTERS, sorts=tuple(KEYS), default_sort="name")


def _rows(visit: Visit, listing: Listing) -> list[Party]:
    text, state = listing.filters["q"].lower(), listing.filters["state"]
    parties = [party_of(detail, visit.now_ms) for detail in list_clients(visit.db, visit.now_ms)]
    return listing.sorted(
        (
            party
            for party in parties
            if text in f"{party.name}\n{party.detail.client.contact}".lower()
            and state in ("", party.state)
        ),
        KEYS,
    )


def show(visit: Visit) -> Response:
    """Show the archive in numbers, third parties, what they take now, the jobs that are open."""
    listing = _listing(visit)
    rows = _rows(visit, listing)
    open_jobs = [
        job
        for state in ("running", "queued")
        for job in list_jobs(visit.db, state=state, limit=SHOWN)
    ]
    return visit.page(
        "data.html",
        listing=listing,
        cut=listing.cut(rows),
        states=STATES,
        size=visit.door.archive_size.get(visit.now_ms, lambda: archive_size(visit.db)),
        downloads=list_downloads(visit.db, visit.now_ms, state="going", limit=SHOWN),
        jobs=open_jobs[:SHOWN],
        scrub=scrub_progress(visit.db, _pace(visit), visit.now_ms),
        problems=list_problems(visit.db, SHOWN),
        kind_of=kind_message,
        problem_of=problem_message,
        answer_of=answer_message,
    )


def _pace(visit: Visit) -> Pace:
    archive = visit.door.settings.archive
    return Pace(archive.scrub_days, archive.scrub_bytes_per_s)


def scrub(visit: Visit) -> Response:
    """Begin a pass over all kept files."""
    scrub_now(visit.db, visit.actor, visit.now_ms)
    return visit.go(HERE, done=_("Verification of all kept files has started."))


def export(visit: Visit) -> Response:
    """Send the third parties as CSV."""
    return csv_response("clients", HEADER, _cells(_rows(visit, _listing(visit))))


def _cells(rows: list[Party]) -> Iterator[list[Cell]]:
    for party in rows:
        client = party.detail.client
        yield [
            client.name,
            client.contact,
            client.purpose,
            figures.iso(client.registered_ms),
            client.registered_by,
            None if client.disabled_ms is None else figures.iso(client.disabled_ms),
            party.good_tokens,
            None if party.last_used_ms is None else figures.iso(party.last_used_ms),
            party.today_bytes,
            party.month_bytes,
        ]


def show_new(visit: Visit) -> Response:
    """Ask who is to be registered."""
    return visit.page("new_client.html", given=dict.fromkeys(FIELDS, ""))


def register(visit: Visit) -> Response:
    """Register a third party."""
    given = {name: visit.form.get(name, "").strip() for name in FIELDS}
    row = register_client(
        visit.db, given["name"], given["contact"], given["purpose"], visit.actor, visit.now_ms
    )
    return visit.go(
        link("client", name=row.name),
        done=_("%(name)s is registered. It has no token yet.", name=row.name),
    )


PAGES: Final = (
    Page("GET", "/data", "viewer", show, query=(*FILTERS, *LISTED)),
    Page("GET", "/data.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("POST", "/scrub", "admin", scrub),
    Page("GET", "/new-client", "admin", show_new),
    Page("POST", "/new-client", "admin", register),
)
