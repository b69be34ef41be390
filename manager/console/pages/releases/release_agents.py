"""Agents and their releases: what each runs, what it is offered and why, how its update went."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from manager.console.language import _, lazy
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter, choice_filter, text_filter
from manager.console.tables.kinds import AGENT, FLAG, MOMENT, SENTENCE
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.operations.releases.release_views import list_releases
from manager.operations.releases.rollouts import AgentOffer, offers, pin_version, set_canary
from manager.operations.releases.update_reports import OUTCOMES
from shared.versions import is_version, version_key

__all__ = ["AGENTS", "PAGES"]


def _version(text: str) -> tuple[int, Any]:
    """Return a key that sorts versions by their numbers, and what is none before them."""
    return (1, version_key(text)) if is_version(text) else (0, text)


HERE: Final = "/console/release-agents"
WHO: Final = ("behind", "canary", "pinned")


def _is_among(one: AgentOffer, who: str) -> bool:
    among = {"behind": one.is_due, "canary": one.told.canary, "pinned": bool(one.told.pin)}
    return among.get(who, True)


AGENTS: Final[Table[AgentOffer]] = Table(
    "/release-agents",
    "Agents by version",
    InMemory(lambda visit: offers(visit.db)),
    (
        Column("agent", lambda one: one.agent, lazy("Agent"), AGENT, sort=True),
        Column(
            "runs",
            lambda one: one.running,
            lazy("Running version"),
            sort_by=lambda one: _version(one.running),
            sort="running",
        ),
        Column(
            "is_offered",
            lambda one: one.offered,
            lazy("Offered version"),
            sort_by=lambda one: _version(one.offered) if one.offered else None,
            sort="offered",
        ),
        Column("why", lambda one: one.why, kind=SENTENCE, about="reason of the offer"),
        Column(
            "canary",
            lambda one: one.told.canary,
            lazy("Canary"),
            FLAG,
            sort_by=lambda one: (not one.told.canary, one.agent),
        ),
        Column(
            "pinned_to",
            lambda one: one.told.pin,
            lazy("Pinned to"),
            sort_by=lambda one: _version(one.told.pin) if one.told.pin else None,
            sort="pin",
        ),
        Column("last_update", lambda one: one.told.version, about="its version"),
        Column(
            "outcome",
            lambda one: one.told.outcome,
            lazy("Last update"),
            sort_by=lambda one: one.told.outcome or None,
            beside="reported",
            style="wide",
        ),
        Column("step", lambda one: one.told.step, about="that failed"),
        Column("detail", lambda one: one.told.detail),
        Column("reported", lambda one: one.told.reported_ms, lazy("when"), MOMENT, sort=True),
    ),
    page_columns=("agent", "runs", "is_offered", "outcome", "canary", "pinned_to"),
    filters=(
        text_filter(lazy("Name"), lazy("part of a name"), lambda one: one.agent),
        Filter(
            "version",
            kind="own",
            about="running version",
            keeps=lambda one, version: one.running == version,
        ),
        choice_filter("outcome", lazy("Last update"), OUTCOMES, lambda one: one.told.outcome),
        Filter("who", lazy("Agents"), "words", WHO, any=lazy("all agents"), keeps=_is_among),
    ),
    default_sort="agent",
)


def show(visit: Visit) -> Response:
    """Show the agents."""
    fleet = offers(visit.db)
    return visit.page(
        "release_agents.html",
        list=AGENTS.view(visit, fleet),
        versions=sorted({one.running for one in fleet if one.running}, key=_version, reverse=True),
        pins=[row.version for row in list_releases(visit.db).releases if not row.revoked_ms],
    )


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
    *AGENTS.pages(show),
    Page("POST", "/release-agents/canary", "admin", canary, form="/release-agents"),
    Page("POST", "/release-agents/pin", "admin", pin, form="/release-agents"),
)
