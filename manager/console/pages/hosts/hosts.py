"""The table of hosts, searched by domain or by any part of the address; and adding some."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.language import _, ngettext, number
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit, link
from manager.operations.fleet.agents import named_agents
from manager.operations.hosts.host_views import (
    COUNTED_MOST,
    HostFilter,
    HostLine,
    every_host,
    list_hosts,
)
from manager.operations.hosts.hosts import import_hosts
from manager.operations.hosts.name_lookups import look_up_again, resolutions
from shared.frozen import frozen
from shared.idn import folded

__all__ = ["PAGES"]

FILTERS: Final = ("q", "in", "owner", "state")
SORTS: Final = ("domain", "first_seen", "volume", "pages", "owner", "state")
STATES: Final = ("new", "idle", "probing", "placed", "excluded")
REFUSED_SHOWN: Final = 20

HEADER: Final = (
    "host",
    "state",
    "owner",
    "volume (KB)",
    "pages",
    "first seen (UTC)",
    "resolution",
    "problem",
    "excluded because",
)


@frozen
class Found:
    """A page of hosts as the table shows it."""

    hosts: list[HostLine]
    matching: int
    first: int
    last: int
    has_next: bool

    @property
    def is_cut(self) -> bool:
        """Return whether there are more than were counted."""
        return self.matching >= COUNTED_MOST


def _listing(visit: Visit) -> Listing:
    return read_listing(
        "/console/hosts",
        visit.query,
        filters=FILTERS,
        sorts=SORTS,
        default_sort="domain",
    )


def _filter(listing: Listing) -> HostFilter:
    anywhere = listing.filters["in"] == "address"
    return HostFilter(
        text=listing.filters["q"] if anywhere else "",
        owner=listing.filters["owner"],
        state=listing.filters["state"],
        search="" if anywhere else listing.filters["q"],
    )


def show(visit: Visit) -> Response:
    """Show the table."""
    listing = _listing(visit)
    start = (listing.page - 1) * listing.size
    page = list_hosts(
        visit.db, _filter(listing), sort=listing.sort, limit=listing.size + 1, offset=start
    )
    shown = page.hosts[: listing.size]
    fleet = named_agents(visit.db)
    text = folded(listing.filters["q"])
    return visit.page(
        "hosts.html",
        listing=listing,
        found=Found(
            shown,
            page.matching,
            start + 1 if shown else 0,
            start + len(shown),
            len(page.hosts) > listing.size,
        ),
        fell_back=page.found_by == "part" and listing.filters["in"] != "address",
        states=STATES,
        agents=[one.name for one in fleet if not one.is_retired],
        # Who searches from anywhere may mean that.
        same_named_agent=text if any(one.name == text for one in fleet) else "",
        names=resolutions(visit.db),
        is_empty=not page.hosts and not listing.is_filtered and listing.page == 1,
    )


def resolve(visit: Visit) -> Response:
    """Order another look-up of all unresolved names."""
    asked = look_up_again(visit.db, "", visit.actor, visit.now_ms)
    return visit.go(
        link("hosts", state="new"),
        done=ngettext(
            "%(num)s name is looked up again at the manager's next tick.",
            "%(num)s names are looked up again at the manager's next tick.",
            asked.hosts,
        ),
    )


def export(visit: Visit) -> Response:
    """Send all rows that match as CSV, however many."""
    listing = _listing(visit)
    found = every_host(visit.db, _filter(listing), sort=listing.sort)
    return csv_response("hosts", HEADER, map(_row, found))


def _row(host: HostLine) -> list[Cell]:
    return [
        host.key,
        host.state,
        host.owner,
        host.volume_kb,
        host.pages,
        figures.iso(host.first_seen_ms),
        host.resolution,
        host.resolve_problem,
        host.excluded_reason,
    ]


def show_add(visit: Visit) -> Response:
    """Ask for hosts to add."""
    return visit.page("add_hosts.html", lines="", imported=None)


def add(visit: Visit) -> Response:
    """Add the hosts that were typed in, a URL or name a line."""
    lines = visit.form.get("lines", "")
    numbered = list(enumerate(lines.split("\n"), 1))
    imported = import_hosts(visit.db, numbered, visit.actor, visit.now_ms, visit.policy)
    if not imported.refused_count:
        said = _(
            "%(new)s hosts are new, %(known)s were known, %(pages)s start pages were added.",
            new=number(imported.new),
            known=number(imported.known),
            pages=number(imported.start_pages),
        )
        return visit.go(link("hosts"), done=said)
    wrong = {one.line for one in imported.refused_lines}
    return visit.page(
        "add_hosts.html",
        status=400,
        lines="\n".join(text for place, text in numbered if place in wrong),
        imported=imported,
        refused=imported.refused_lines[:REFUSED_SHOWN],
    )


PAGES: Final = (
    Page("GET", "/hosts", "viewer", show, query=(*FILTERS, *LISTED)),
    Page("GET", "/hosts.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("GET", "/add-hosts", "operator", show_add),
    Page("POST", "/add-hosts", "operator", add),
    Page("POST", "/hosts/resolve", "operator", resolve),
)
