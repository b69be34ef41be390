"""The table of hosts, searched by domain or by any part of the address; and adding some."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from starlette.responses import Response

from manager.console.language import _, lazy, ngettext, number
from manager.console.listing import Listing
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import AGENT, HOST, KBYTES, MOMENT, NUMBER, SENTENCE, STATE
from manager.console.tables.sources import OwnPage
from manager.console.tables.table import Column, Table
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
from shared.idn import folded

__all__ = ["HOSTS", "PAGES"]

STATES: Final = ("new", "idle", "probing", "placed", "excluded")
REFUSED_SHOWN: Final = 20


def _filter(listing: Listing) -> HostFilter:
    anywhere = listing.filters["in"] == "address"
    return HostFilter(
        text=listing.filters["q"] if anywhere else "",
        owner=listing.filters["owner"],
        state=listing.filters["state"],
        search="" if anywhere else listing.filters["q"],
    )


def _owners(visit: Visit) -> list[str]:
    return [one.name for one in named_agents(visit.db) if not one.is_retired]


HOSTS: Final[Table[HostLine]] = Table(
    "/hosts",
    "Hosts",
    OwnPage(lambda visit, one: every_host(visit.db, _filter(one), sort=one.sort)),
    (
        Column("host", lambda host: host.key, lazy("Host"), HOST, sort="domain"),
        Column("state", lambda host: host.state, lazy("State"), STATE, sort=True),
        Column("owner", lambda host: host.owner, lazy("Owner"), AGENT, sort=True),
        Column("volume", lambda host: host.volume_kb, lazy("Volume"), KBYTES, sort=True),
        Column("pages", lambda host: host.pages, lazy("Pages"), NUMBER, sort=True),
        Column(
            "first_seen", lambda host: host.first_seen_ms, lazy("First seen"), MOMENT, sort=True
        ),
        Column("resolution", lambda host: host.resolution, about="of its name"),
        Column("problem", lambda host: host.resolve_problem, kind=SENTENCE, about="of resolution"),
        Column("excluded_because", lambda host: host.excluded_reason),
    ),
    page_columns=("host", "owner", "state", "volume", "pages", "first_seen"),
    filters=(
        Filter("q", lazy("Search"), hint="example.jp", about="a domain, or a part of an address"),
        Filter("in", kind="own", about="address: any part of the address"),
        Filter("owner", lazy("Owner"), "agent", _owners),
        Filter("state", lazy("State"), "words", STATES),
    ),
    default_sort="domain",
)


def show(visit: Visit) -> Response:
    """Show the table."""
    listing = HOSTS.listing(visit)
    start = (listing.page - 1) * listing.size
    page = list_hosts(
        visit.db, _filter(listing), sort=listing.sort, limit=listing.size + 1, offset=start
    )
    is_cut = page.matching >= COUNTED_MOST
    part = listing.slice(page.hosts, page.matching, is_cut=is_cut)
    text = folded(listing.filters["q"])
    return visit.page(
        "hosts.html",
        list=HOSTS.page(visit, listing, replace(part, has_next=len(page.hosts) > listing.size)),
        fell_back=page.found_by == "part" and listing.filters["in"] != "address",
        # Who searches from anywhere may mean that.
        same_named_agent=text if any(one.name == text for one in named_agents(visit.db)) else "",
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
    *HOSTS.pages(show),
    Page("GET", "/add-hosts", "operator", show_add),
    Page("POST", "/add-hosts", "operator", add, form="/add-hosts"),
    Page("POST", "/hosts/resolve", "operator", resolve, form="/hosts"),
)
