"""Agents and their releases: what each runs, what it is offered and why, how its update went."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from starlette.responses import Response

from manager.console import figures
from manager.console.csv_export import Cell, csv_response
from manager.console.language import _
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.releases.release_views import list_releases
from manager.operations.releases.rollouts import AgentOffer, offers, pin_version, set_canary
from manager.operations.releases.update_reports import OUTCOMES
from shared.versions import is_version, version_key

__all__ = ["PAGES"]

FILTERS: Final = ("q", "version", "outcome", "who")


def _version(text: str) -> tuple[int, Any]:
    """Return a key that sorts versions by their numbers, and what is none before them."""
    return (1, version_key(text)) if is_version(text) else (0, text)


HERE: Final = "/console/release-agents"
KEYS: Final[dict[str, Callable[[AgentOffer], Any]]] = {
    "agent": lambda one: one.agent,
    "running": lambda one: _version(one.running),
    "offered": lambda one: _version(one.offered) if one.offered else None,
    "outcome": lambda one: one.told.outcome or None,
    "reported": lambda one: one.told.reported_ms,
    "canary": lambda one: (not one.told.canary, one.agent),
    "pin": lambda one: _version(one.told.pin) if one.told.pin else None,
}
WHO: Final = ("behind", "canary", "pinned")
HEADER: Final = (
    "agent",
    "runs",
    "is offered",
    "why",
    "canary",
    "pinned to",
    "last update",
    "outcome",
    "step",
    "detail",
    "reported (UTC)",
)


def _listing(visit: Visit) -> Listing:
    return read_listing(
        HERE,
        visit.query,
        filters=FILTERS,
        sorts=tuple(KEYS),
        default_sort="agent",
    )


def _rows(fleet: list[AgentOffer], listing: Listing) -> list[AgentOffer]:
    chosen = listing.filters
    rows = [
        one
        for one in fleet
        if chosen["q"].lower() in one.agent
        and chosen["version"] in ("", one.running)
        and chosen["outcome"] in ("", one.told.outcome)
        and _is_among(one, chosen["who"])
    ]
    return listing.sorted(rows, KEYS)


def _is_among(one: AgentOffer, who: str) -> bool:
    if who == "behind":
        return one.is_due
    if who == "canary":
        return one.told.canary
    return bool(one.told.pin) if who == "pinned" else True


def show(visit: Visit) -> Response:
    """Show the agents."""
    listing = _listing(visit)
    fleet = offers(visit.db)
    return visit.page(
        "release_agents.html",
        listing=listing,
        cut=listing.cut(_rows(fleet, listing)),
        versions=sorted({one.running for one in fleet if one.running}, key=_version, reverse=True),
        outcomes=OUTCOMES,
        who=WHO,
        pins=[row.version for row in list_releases(visit.db).releases if not row.revoked_ms],
    )


def export(visit: Visit) -> Response:
    """Send the same rows as CSV."""
    rows = _rows(offers(visit.db), _listing(visit))
    return csv_response("release-agents", HEADER, (_cells(one) for one in rows))


def _cells(one: AgentOffer) -> list[Cell]:
    told = one.told
    return [
        one.agent,
        one.running,
        one.offered,
        str(one.why),
        told.canary,
        told.pin,
        told.version,
        told.outcome,
        told.step,
        told.detail,
        None if told.reported_ms is None else figures.iso(told.reported_ms),
    ]


def canary(visit: Visit) -> Response:
    """Put an agent among the first that are offered a release, or remove it."""
    name, first = visit.form.get("name", ""), visit.form.get("canary") == "yes"
    set_canary(visit.db, name, visit.actor, visit.now_ms, canary=first)
    said = (
        _("%(agent)s is a canary now: it is offered releases first.", agent=name)
        if first
        else _(
            "%(agent)s is no longer a canary: it is offered releases with the others.", agent=name
        )
    )
    return visit.go(visit.back(HERE), done=said)


def pin(visit: Visit) -> Response:
    """Offer an agent one version only; none: what its ring is offered."""
    name, version = visit.form.get("name", ""), visit.form.get("version", "")
    shown = visit.form.get("shown")
    pin_version(visit.db, name, version, visit.actor, visit.now_ms, shown=shown)
    said = (
        _("%(agent)s is offered only %(version)s.", agent=name, version=version)
        if version
        else _("%(agent)s is offered the release of its ring.", agent=name)
    )
    return visit.go(visit.back(HERE), done=said)


PAGES: Final = (
    Page("GET", "/release-agents", "viewer", show, query=(*FILTERS, *LISTED)),
    Page("GET", "/release-agents.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("POST", "/release-agents/canary", "admin", canary),
    Page("POST", "/release-agents/pin", "admin", pin),
)
