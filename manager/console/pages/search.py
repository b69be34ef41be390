"""Search over everything: one exact hit leads to its page, several are listed by their kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from starlette.responses import Response

from manager.console.language import Words, lazy
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.console.tables.kinds import MOMENT
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table, View
from manager.operations.search import HITS_MOST, Hit, HitGroup, Kind, Match, SearchResult
from shared.idn import to_unicode
from shared.messages import Message
from shared.urls import split_host

__all__ = ["HITS", "PAGES"]

SHOWN: Final = 10
TEXT_MOST: Final = 500

KINDS: Final[dict[Kind, Words]] = {
    "host": lazy("Hosts"),
    "page": lazy("Collected pages"),
    "agent": lazy("Agents"),
    "round": lazy("Rounds"),
    "plan": lazy("Plans"),
    "client": lazy("Third parties"),
    "user": lazy("Users"),
    "token": lazy("Tokens"),
    "alert": lazy("Alerts"),
    "round-schedule": lazy("Schedules of rounds"),
    "collection-schedule": lazy("Schedules of collection"),
    "release": lazy("Releases"),
    "setting": lazy("Settings"),
    "console": lazy("Pages of the console"),
    "audit": lazy("Audit log"),
}
MATCHES: Final[dict[Match, Words]] = {
    "exact": lazy("exact match"),
    "site": lazy("the host of this page"),
    "front": lazy("the top page of this host"),
    "address": lazy("at this IP address"),
    "domain": lazy("below this domain"),
    "part": lazy("partial match"),
}
LISTS: Final[dict[Kind, tuple[str, str]]] = {
    "host": ("hosts", "q"),
    "agent": ("agents", "q"),
    "client": ("data", "q"),
    "user": ("users", "q"),
    "token": ("tokens", "q"),
    "alert": ("alerts", "q"),
    "release": ("releases", "q"),
    "setting": ("settings", "q"),
}
"""The list of all hits of a kind, and its filter."""


def search(visit: Visit) -> Response:
    """Redirect to the match of the typed text, or list similar names."""
    text = _text(visit)
    shows_all = visit.query.get("show", "") == "all"
    if not text and not shows_all:
        return visit.go(link("hosts"))
    found = _found(visit, text, (), SHOWN)
    if not shows_all:
        return visit.go(_target(visit, found))
    return visit.page(
        "search.html",
        found=found,
        groups=[(group, _view(visit, group)) for group in found.groups],
        kinds=KINDS,
        matches=MATCHES,
        address=lambda hit: _address(visit, hit),
        shown=_shown,
        readable=_readable,
        more={kind: link(path, **{name: text}) for kind, (path, name) in LISTS.items()},
        files={kind: link("search.csv", q=text, kind=kind) for kind in KINDS},
        logs=_logs(found),
    )


def _text(visit: Visit) -> str:
    return visit.query.get("q", "").strip()[:TEXT_MOST]


def _found(visit: Visit, text: str, kinds: Sequence[str], limit: int) -> SearchResult:
    assert visit.user is not None, "a page for people who have logged in"
    user = visit.user
    return visit.services.search.find(
        text, user.name, user.role, visit.now_ms, kinds=kinds, limit=limit
    )


def _hits(visit: Visit) -> Iterator[Hit]:
    """Return the hits of one kind or of all."""
    kind = visit.query.get("kind", "")
    found = _found(visit, _text(visit), [kind] if kind else [], HITS_MOST)
    return (hit for group in found.groups for hit in group.hits)


HITS: Final[Table[Hit]] = Table(
    "/search",
    f"Results of the search, at most {HITS_MOST:,} of a kind",
    InMemory(_hits),
    (
        Column("kind", lambda hit: hit.kind, about="of the thing that is found"),
        Column("found", lambda hit: hit.key, lazy("Result"), style="key"),
        Column("match", lambda hit: hit.match, lazy("Match")),
        Column("state", lambda hit: hit.state, lazy("State")),
        Column("about", lambda hit: hit.about, lazy("About"), style="wide"),
        Column("time", lambda hit: hit.at_ms, lazy("Time"), MOMENT),
    ),
    page_columns=("found", "about", "state", "match", "time"),
    parameters=("q", "kind"),
)


def _view(visit: Visit, group: HitGroup) -> View[Hit]:
    """Return the table of a kind without columns that none of its hits has."""
    has = {
        "about": group.kind == "alert" or any(hit.about for hit in group.hits),
        "state": any(hit.state for hit in group.hits),
        "time": any(hit.at_ms for hit in group.hits),
    }
    return HITS.part(visit, group.hits, without=[key for key, there in has.items() if not there])


def _target(visit: Visit, found: SearchResult) -> str:
    if found.leads_to is not None:
        return _address(visit, found.leads_to)
    kinds = {group.kind for group in found.groups} - {"audit"}
    is_name = "." in found.text or bool(found.url)
    if kinds == {"host"} or (not found.groups and is_name):
        return link("hosts", q=found.text)
    return link("search", q=found.text, show="all")


def _address(visit: Visit, hit: Hit) -> str:
    """Return the page of a hit."""
    key, kind = hit.key, hit.kind
    if kind in ("round-schedule", "collection-schedule"):
        page = link("rounds" if kind == "round-schedule" else "collection")
        return f"{page}?edit={key}#schedule" if visit.may("operator") else page
    if kind == "audit":
        return link("audit", before=int(key) + 1)
    if kind in ("round", "plan"):
        return link(f"{kind}s/{key}")
    if kind == "console":
        return key
    page, name = {
        "host": ("host", "host"),
        "page": ("captured", "url"),
        "agent": ("agent", "name"),
        "client": ("client", "name"),
        "user": ("user", "name"),
    }.get(kind) or LISTS[kind]
    return link(page, **{name: key})


def _shown(hit: Hit) -> str | Message:
    """Return the text of a hit's link."""
    return hit.about if hit.kind in ("console", "alert") else hit.key


def _readable(hit: Hit) -> str:
    """Return the Unicode name of a host or page; empty where it is the same."""
    if hit.kind not in ("host", "page"):
        return ""
    name = split_host(hit.key)[1]
    readable = to_unicode(name)
    return readable if readable != name else ""


def _logs(found: SearchResult) -> str:
    """Return the search of log lines for a typed URL; empty where none was typed."""
    if not found.url:
        return ""
    _, name, _ = split_host(found.url)
    return link("logs", host=name, url=found.url)


PAGES: Final = (
    Page("GET", "/search", "viewer", search, query=("q", "show")),
    *HITS.file_pages(),
)
