"""The archive page: its size, who may download, and current downloads."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console.language import _, lazy
from manager.console.pages.archive.downloads import DOWNLOADS, JOBS
from manager.console.pages.archive.file_problems import PROBLEMS
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.filters import choice_filter, text_filter
from manager.console.tables.kinds import AGO, BYTES, MOMENT, NUMBER, STATE
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.operations.archive.archive_figures import archive_size
from manager.operations.archive.downloads import list_downloads
from manager.operations.archive.selection_jobs import list_jobs
from manager.operations.people.clients import DAY_MS, ClientDetail, list_clients, register_client
from manager.operations.segments.file_problems import list_problems
from manager.operations.segments.scrub import Pace, scrub_now, scrub_progress
from shared.frozen import frozen

__all__ = ["CLIENTS", "PAGES"]

HERE: Final = "/console/data"
SHOWN: Final = 10
FIELDS: Final = ("name", "contact", "purpose")
STATES: Final = ("enabled", "disabled")


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


CLIENTS: Final[Table[Party]] = Table(
    "/data",
    "Third parties",
    InMemory(
        lambda visit: [party_of(one, visit.now_ms) for one in list_clients(visit.db, visit.now_ms)]
    ),
    (
        Column("name", lambda one: one.name, lazy("Name"), file="client", sort=True),
        Column("contact", lambda one: one.detail.client.contact),
        Column("purpose", lambda one: one.detail.client.purpose),
        Column("registered", lambda one: one.detail.client.registered_ms, kind=MOMENT),
        Column("registered_by", lambda one: one.detail.client.registered_by),
        Column("disabled", lambda one: one.detail.client.disabled_ms, kind=MOMENT),
        Column(
            "state",
            lambda one: one.state,
            lazy("State"),
            STATE,
            file=None,
            sort_by=lambda one: (one.state == "disabled", one.name),
        ),
        Column(
            "tokens",
            lambda one: one.good_tokens,
            lazy("Valid tokens"),
            NUMBER,
            "tokens that open",
            True,
        ),
        Column("next_end", lambda one: one.next_end_ms, lazy("Next expiry"), AGO, None),
        Column(
            "used", lambda one: one.last_used_ms, lazy("Last used"), AGO, "last used (UTC)", True
        ),
        Column("today", lambda one: one.today_bytes, lazy("Today"), BYTES, sort=True),
        Column(
            "month", lambda one: one.month_bytes, lazy("31 days"), BYTES, "31 days (bytes)", True
        ),
    ),
    filters=(
        text_filter(
            lazy("Search"),
            lazy("part of a name or contact"),
            lambda one: f"{one.name}\n{one.detail.client.contact}",
        ),
        choice_filter("state", lazy("State"), STATES, lambda one: one.state),
    ),
    default_sort="name",
    files="clients",
)


def show(visit: Visit) -> Response:
    """Show the archive in numbers, third parties, what they take now, the jobs that are open."""
    open_jobs = [
        job
        for state in ("running", "queued")
        for job in list_jobs(visit.db, state=state, limit=SHOWN)
    ]
    problems = list_problems(visit.db, SHOWN + 1)
    return visit.page(
        "data.html",
        list=CLIENTS.view(visit),
        size=visit.services.archive_size.get(visit.now_ms, lambda: archive_size(visit.db)),
        downloads=DOWNLOADS.part(
            visit, list_downloads(visit.db, visit.now_ms, state="going", limit=SHOWN)
        ),
        jobs=JOBS.part(visit, open_jobs[:SHOWN]),
        scrub=scrub_progress(visit.db, _pace(visit), visit.now_ms),
        problems=PROBLEMS.part(visit, problems[:SHOWN]),
        problems_cut=len(problems) > SHOWN,
    )


def _pace(visit: Visit) -> Pace:
    archive = visit.services.settings.archive
    return Pace(archive.scrub_days, archive.scrub_bytes_per_s)


def scrub(visit: Visit) -> Response:
    """Begin a pass over all kept files."""
    scrub_now(visit.db, visit.actor, visit.now_ms)
    return visit.go(HERE, done=_("Verification of all kept files has started."))


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
    *CLIENTS.pages(show),
    Page("POST", "/scrub", "admin", scrub, form="/data"),
    Page("GET", "/new-client", "admin", show_new),
    Page("POST", "/new-client", "admin", register, form="/new-client"),
)
