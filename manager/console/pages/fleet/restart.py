"""Restarts and list limits of all agents in one table: the source's page `/servlets/restart`.

What it shows: when each last asked whether to restart, whether it handled the last order, when its
list was last sent. What it sets: restart yes or no, whether that deletes the pages on its disk as
well, and whether the next list allows 50 pages of a unit or all. Source: seed 004, 5.1.6, 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from starlette.responses import Response

from manager.console.language import _, lazy, ngettext
from manager.console.listing import Listing, whole
from manager.console.requests.page import Page
from manager.console.requests.visit import BACK, Visit
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import AGENT, AGO, FLAG
from manager.console.tables.sources import OwnPage
from manager.console.tables.table import Column, Table
from manager.errors import ConflictError
from manager.operations.fleet.agent_summaries import agent_column
from manager.operations.fleet.agents import (
    AgentName,
    AgentView,
    agent_views,
    check_hears_of_pages,
    list_agents,
    named_agents,
    order_command,
    set_next_list_limit,
)
from shared.errors import FormatError

__all__ = ["PAGES", "RESTARTS"]

HERE: Final = "/console/restart"
RESTART: Final = "restart "  # a name has no space, so it cannot be mistaken for another field
PAGES_OF: Final = "pages "
SHOWN: Final = "shown "  # what a row's limit was when its form was made; 0: all
DELETES: Final = {"yes": False, "pages too": True}
Limits = dict[str, tuple[int, int]]
"""Of agents: the limit that the form showed, and the one to set; 0: all."""
LIMITS: Final = {"50": 50, "all": 0}
UNCHANGED: Final = "unchanged"  # a limit that was set elsewhere
NAMED_MOST: Final = 20
COLUMNS: Final = {
    "check": "restart_asked_ms",
    "ordered": "restart_ordered_ms",
    "handled": "restart_handled_ms",
    "list": "list_sent_ms",
}
"""What the table is sorted by, beside the name."""


def _names(visit: Visit) -> list[AgentName]:
    return [one for one in named_agents(visit.db) if not one.is_retired]


def _found(visit: Visit, listing: Listing, everybody: list[AgentName]) -> list[int]:
    """Return the numbers of the agents that the filter leaves, sorted."""
    text, column = listing.filters["q"].lower(), listing.sort.removeprefix("-")
    found = [one for one in everybody if text in one.name]
    if column == "name":
        rows = listing.sorted(found, {column: lambda one: one.name})
    else:
        values = agent_column(visit.db, COLUMNS[column])
        rows = listing.sorted(found, {column: lambda one: values.get(one.id)})
    return [one.id for one in rows]


def _views(visit: Visit, numbers: Sequence[int]) -> list[AgentView]:
    return agent_views(visit.db, numbers, visit.now_ms, visit.policy)


def _every(visit: Visit, listing: Listing) -> list[AgentView]:
    return _views(visit, _found(visit, listing, _names(visit)))


RESTARTS: Final[Table[AgentView]] = Table(
    "/restart",
    "Restarts and list limits of agents",
    OwnPage(_every),
    (
        Column("agent", lambda one: one.row.name, lazy("Agent"), AGENT, sort="name"),
        Column(
            "last_restart_check",
            lambda one: one.row.restart_asked_ms if one.row.is_plain else one.row.last_contact_ms,
            lazy("Last restart check"),
            AGO,
            sort_by=lambda one: one.row.restart_asked_ms,
            sort="check",
        ),
        Column(
            "restart_ordered",
            lambda one: one.row.restart_ordered_ms,
            lazy("Ordered"),
            AGO,
            sort="ordered",
        ),
        Column(
            "restart_handled",
            lambda one: one.row.restart_handled_ms,
            lazy("Handled"),
            AGO,
            sort="handled",
        ),
        Column(
            "list_last_sent",
            lambda one: one.row.list_sent_ms,
            lazy("List last sent"),
            AGO,
            sort="list",
        ),
        Column(
            "restart", lambda one: one.row.restart_ordered_ms is not None, lazy("Restart"), FLAG
        ),
        Column(
            "list_limit",
            lambda one: one.row.list_limit or None,
            lazy("Next list"),
            file="pages of a unit on its next list",
            about="empty: all pages",
        ),
    ),
    filters=(Filter("q", lazy("Name"), hint=lazy("part of a name")),),
    default_sort="name",
)


def show(visit: Visit) -> Response:
    """Show the table."""
    listing, everybody = RESTARTS.listing(visit), _names(visit)
    cut = listing.cut(_found(visit, listing, everybody))
    cut = replace(cut, rows=_views(visit, cut.rows))
    return visit.page(
        "restart.html",
        list=RESTARTS.page(visit, listing, cut),
        everybody=len(everybody),
        restart_field=RESTART,
        pages_field=PAGES_OF,
        shown_field=SHOWN,
    )


def save(visit: Visit) -> Response:
    """Apply the choices that differ from the present state; ask once if agents are to restart."""
    everybody = list_agents(visit.db, visit.now_ms, visit.policy)
    agents = {view.row.name: view for view in everybody if view.row.retired_ms is None}
    restarts, limits = _chosen(visit.form, agents)
    here = visit.back(HERE)
    if not restarts and not limits:
        return visit.go(here, done=_("Nothing was changed: these values were already set."))
    if restarts and not visit.is_confirmed:
        return _ask(visit, restarts, limits, here)
    for name, (was, pages) in limits.items():
        set_next_list_limit(visit.db, name, pages, visit.actor, visit.now_ms, shown=was)
    for name, pages_too in restarts.items():
        order_command(visit.db, name, "restart", visit.actor, visit.now_ms, pages=pages_too)
    return visit.go(here, done=_said(restarts, limits))


def _chosen(
    form: Mapping[str, str], agents: dict[str, AgentView]
) -> tuple[dict[str, bool], Limits]:
    """Return which agents are to restart, with their pages or not, and which limits to set.

    A row acts only where it differs from what it showed. Raises ConflictError if another person
    has changed such a row meanwhile.
    """
    restarts: dict[str, bool] = {}
    limits: Limits = {}
    changed: list[str] = []
    for field, value in form.items():
        kind, _space, name = field.partition(" ")
        view = agents.get(name)
        if view is None:
            continue
        if kind == RESTART.strip() and value in DELETES and view.row.restart_ordered_ms is None:
            if DELETES[value]:
                check_hears_of_pages(view.row)
            restarts[name] = DELETES[value]
        elif kind == PAGES_OF.strip() and value != UNCHANGED:
            if value not in LIMITS:
                raise FormatError(
                    "general.unknown_choice", name=field[:80], value=value[:40], known=tuple(LIMITS)
                )
            was, now, wanted = _shown(form, name), view.row.list_limit or 0, LIMITS[value]
            if wanted in (was, now):
                continue
            if was != now:
                changed.append(name)
            limits[name] = (was, wanted)
    if changed:
        raise ConflictError("general.changed_meanwhile", names=tuple(changed[:NAMED_MOST]))
    return restarts, limits


def _shown(form: Mapping[str, str], name: str) -> int:
    """Return which limit a row showed. Raises FormatError."""
    field = f"{SHOWN}{name}"
    return whole(form.get(field, ""), field)


def _ask(visit: Visit, restarts: dict[str, bool], limits: Limits, here: str) -> Response:
    also = [_("All pages are fetched again, which adds load on the sites.")]
    emptied = [name for name, pages_too in restarts.items() if pages_too]
    if emptied:
        also.append(
            _(
                "All pages on their disks are deleted, even undelivered ones: %(names)s",
                names=_named(emptied),
            )
        )
    if emptied and len(emptied) < len(restarts):
        also.append(_("Collected pages of the other agents stay."))
    elif not emptied:
        also.append(_("Collected pages stay."))
    if limits:
        also.append(_("These next lists change their limit: %(names)s", names=_named(list(limits))))
    fields = {
        f"{RESTART}{name}": "pages too" if pages_too else "yes"
        for name, pages_too in restarts.items()
    }
    fields[BACK] = here
    for name, (was, pages) in limits.items():
        fields[f"{PAGES_OF}{name}"] = "50" if pages else "all"
        fields[f"{SHOWN}{name}"] = str(was)
    return visit.ask(
        _("Restart %(agent)s?", agent=next(iter(restarts)))
        if len(restarts) == 1
        else _("Restart %(number)s agents?", number=len(restarts)),
        _named(list(restarts)),
        _(
            "Each drops its list, its queue and its record of seen URLs, and fetches its list "
            "again."
        ),
        *also,
        button=_("Restart"),
        back=here,
        fields=fields,
    )


def _named(names: list[str]) -> str:
    """Return names as a sentence, the first of many."""
    named, left = ", ".join(names[:NAMED_MOST]), len(names) - NAMED_MOST
    if left > 0:
        return _("%(names)s and %(number)s more.", names=named, number=left)
    return named + _(".")


def _said(restarts: dict[str, bool], limits: Limits) -> str:
    said = []
    if restarts:
        said.append(
            ngettext(
                "%(num)s agent will restart at its next contact.",
                "%(num)s agents will restart at their next contact.",
                len(restarts),
            )
        )
    if any(restarts.values()):
        said.append(
            ngettext(
                "%(num)s of them deletes its pages.",
                "%(num)s of them delete their pages.",
                sum(restarts.values()),
            )
        )
    if limits:
        said.append(
            ngettext(
                "The page limit of the next list was changed for %(num)s agent.",
                "The page limit of the next list was changed for %(num)s agents.",
                len(limits),
            )
        )
        said.append(_named(list(limits)))
    return " ".join(said)


PAGES: Final = (
    *RESTARTS.pages(show),
    Page("POST", "/restart", "operator", save, form="/restart"),
)
