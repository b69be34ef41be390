"""The table of agents, where the source had its page of robots (`/servlets/listrobot`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from starlette.responses import Response

from manager.assignment.liveness import LivenessState
from manager.console.drawings.map_view import read_area
from manager.console.language import lazy
from manager.console.listing import Listing
from manager.console.pages.rounds.round_progress import RoundProgress, progress_of
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import (
    ACTOR,
    AGO,
    BYTES,
    DURATION,
    FIGURE,
    ID,
    MOMENT,
    NUMBER,
    SENTENCE,
    STATE,
    TEXT,
    WORD,
)
from manager.console.tables.sources import InMemory, OwnPage
from manager.console.tables.table import BUTTONS, Column, Table
from manager.db.fleet.agent_summaries import OverviewRow
from manager.db.identity.join_tokens import JoinTokenRow
from manager.operations.fleet.agent_summaries import AgentOverview, agent_column, agent_overviews
from manager.operations.fleet.agents import AgentView, agent_views, list_join_tokens
from manager.operations.rounds.rounds import list_rounds, round_detail
from shared.frozen import frozen

__all__ = ["AGENTS", "PAGES", "TOKENS", "matching"]


STATES: Final = tuple(state.value for state in LivenessState)
_RANK: Final = {state: rank for rank, state in enumerate(STATES)}
KINDS: Final = ("sync", "plain")
ROUNDS_LOOKED_AT: Final = 20
NEW_MS: Final = 3_600_000
NEW_SHOWN: Final = 3


@frozen
class AgentLine:
    """An agent with its average throughput in the newest round that crawled; None: took no part."""

    view: AgentView
    pages_per_s: float | None
    bytes_per_s: float | None


KEYS: Final[dict[str, Callable[[AgentOverview], Any]]] = {
    "name": lambda one: one.row.name,
    "state": lambda one: (_RANK[one.liveness.state.value], one.row.name),
    "contact": lambda one: one.row.last_contact_ms,
    "next": lambda one: one.row.promised_ms,
    "work": lambda one: one.row.last_work_ms,
    "units": lambda one: one.units_owned,
}
COLUMNS: Final[dict[str, tuple[str, Callable[[Any], Any] | None]]] = {
    "version": ("version", lambda version: version or None),
    "generation": ("generation", None),
    "list": ("list_sent_ms", None),
    "restart": ("restart_asked_ms", None),
    "disk": ("disk_free_bytes", None),
    "skew": ("skew_ms", abs),
    "cost": ("load_ms", None),
}
"""What the table is sorted by, too, and an overview does not have: the column, and what of it."""


def matching(agents: list[AgentOverview], listing: Listing) -> list[AgentOverview]:
    """Return the agents that the filters of a list leave. Raises FormatError: no such area."""
    area = read_area(listing.filters["area"])
    text, state = listing.filters["q"].lower(), listing.filters["state"]
    kind = listing.filters["kind"]
    # Retired ones are kept for ever; who wants to see them asks for them.
    return [
        one
        for one in agents
        if text in one.row.name
        and kind in ("", one.row.kind)
        and (area is None or area.holds(one.row))
        and (one.liveness.state.value == state if state else one.row.retired_ms is None)
    ]


def _last_crawl(visit: Visit) -> RoundProgress | None:
    """Return the newest round that has begun to crawl."""
    for row in list_rounds(visit.db, ROUNDS_LOOKED_AT):
        if row.crawling_ms is not None:
            return progress_of(round_detail(visit.db, row.number, with_plan=False), visit.now_ms)
    return None


def _sorted(
    visit: Visit, agents: list[AgentOverview], listing: Listing, progress: RoundProgress | None
) -> list[int]:
    """Return the numbers of the agents that the filters leave, in the order of the list."""
    by = listing.sort.removeprefix("-")
    found = listing.sorted(matching(agents, listing), {by: _key(visit, by, progress)})
    return [one.row.id for one in found]


def _key(visit: Visit, by: str, progress: RoundProgress | None) -> Callable[[AgentOverview], Any]:
    if by == "rate":
        return lambda one: progress and (progress.rate_of(one.row.name) or (None,))[0]
    if by not in COLUMNS:
        return KEYS[by]
    column, order = COLUMNS[by]
    values = agent_column(visit.db, column)

    def key(one: AgentOverview) -> Any:
        value = values.get(one.row.id)
        return value if value is None or order is None else order(value)

    return key


def _lines(visit: Visit, numbers: Sequence[int], progress: RoundProgress | None) -> list[AgentLine]:
    lines = []
    for view in agent_views(visit.db, numbers, visit.now_ms, visit.policy):
        rate = progress.rate_of(view.row.name) if progress is not None else None
        lines.append(AgentLine(view, *(rate or (None, None))))
    return lines


def _every(visit: Visit, listing: Listing) -> list[AgentLine]:
    agents, progress = agent_overviews(visit.db, visit.now_ms, visit.policy), _last_crawl(visit)
    return _lines(visit, _sorted(visit, agents, listing, progress), progress)


AGENTS: Final[Table[AgentLine]] = Table(
    "/agents",
    "Agents",
    OwnPage(_every),
    (
        Column(
            "agent",
            lambda one: one.view.row.name,
            lazy("Agent"),
            TEXT,
            sort="name",
            beside="version",
            style="agent-name",
        ),
        Column("kind", lambda one: one.view.row.kind, kind=WORD),
        Column(
            "state",
            lambda one: one.view.liveness.state.value,
            lazy("State"),
            STATE,
            sort=True,
            style="wide",
        ),
        Column("reason", lambda one: one.view.liveness.reason, kind=SENTENCE, about="of the state"),
        Column(
            "last_contact",
            lambda one: one.view.row.last_contact_ms,
            lazy("Last contact"),
            AGO,
            sort="contact",
            beside="last_work",
        ),
        Column("last_message", lambda one: one.view.row.last_contact, about="kind of the message"),
        Column("last_work", lambda one: one.view.row.last_work_ms, lazy("work"), AGO, sort="work"),
        Column(
            "next_contact",
            lambda one: one.view.row.promised_ms,
            lazy("Next contact"),
            MOMENT,
            sort="next",
        ),
        Column("version", lambda one: one.view.row.version, lazy("version"), sort=True),
        Column(
            "generation",
            lambda one: one.view.row.generation,
            lazy("List"),
            ID,
            sort=True,
            beside="list_sent",
            about="of its list",
        ),
        Column("generation_sent", lambda one: one.view.row.list_sent_generation, kind=ID),
        Column("generation_held", lambda one: one.view.row.generation_held, kind=ID),
        Column("list_sent", lambda one: one.view.row.list_sent_ms, lazy("sent"), AGO, sort="list"),
        Column("restart_ordered", lambda one: one.view.row.restart_ordered_ms, kind=MOMENT),
        Column(
            "restart_asked",
            lambda one: one.view.row.restart_asked_ms,
            lazy("Last restart check"),
            AGO,
            sort="restart",
        ),
        Column("restart_handled", lambda one: one.view.row.restart_handled_ms, kind=MOMENT),
        Column(
            "list_limit",
            lambda one: one.view.row.list_limit,
            kind=NUMBER,
            file="pages of a unit on its next list",
        ),
        Column(
            "pages_per_second",
            lambda one: one.pages_per_s,
            lazy("Pages/s"),
            FIGURE,
            sort="rate",
            about="in the newest round that crawled",
        ),
        Column("bytes_per_second", lambda one: one.bytes_per_s, kind=FIGURE),
        Column(
            "disk_free",
            lambda one: one.view.row.disk_free_bytes,
            lazy("Disk"),
            BYTES,
            sort="disk",
            beside="clock_skew",
        ),
        Column(
            "clock_skew",
            lambda one: one.view.row.skew_ms,
            lazy("skew"),
            DURATION,
            sort_by=lambda one: abs(one.view.row.skew_ms),
            sort="skew",
        ),
        Column("reports_waiting", lambda one: one.view.row.reports_waiting, kind=NUMBER),
        Column(
            "units_owned",
            lambda one: one.view.units_owned,
            lazy("Units"),
            NUMBER,
            sort="units",
            beside="cost",
        ),
        Column("units_to_crawl_now", lambda one: one.view.crawl_rights, kind=NUMBER),
        Column("units_to_probe_now", lambda one: one.view.probe_rights, kind=NUMBER),
        Column("cost", lambda one: round(one.view.row.load_ms), lazy("cost"), DURATION, sort=True),
    ),
    page_columns=(
        *("agent", "state", "last_contact", "next_contact", "generation", "restart_asked"),
        *("units_owned", "pages_per_second", "disk_free"),
    ),
    filters=(
        Filter("q", lazy("Name"), hint=lazy("part of a name")),
        Filter("state", lazy("State"), "words", STATES, any=lazy("all except retired")),
        Filter("kind", lazy("Kind"), "words", KINDS),
        Filter("area", kind="own", about="south, west, north, east, in degrees"),
    ),
    default_sort="name",
)
TOKENS: Final[Table[JoinTokenRow]] = Table(
    "/agents/join-tokens",
    "Unused join tokens",
    InMemory(lambda visit: list_join_tokens(visit.db, visit.now_ms)),
    (
        Column("agent", lambda token: token.agent, lazy("Agent")),
        Column("made_by", lambda token: token.issued_by, lazy("Made by"), ACTOR),
        Column("made", lambda token: token.issued_ms, lazy("Made"), AGO),
        Column("valid_until", lambda token: token.expires_ms, lazy("Valid until"), MOMENT),
        BUTTONS,
    ),
    role="admin",
    files="join-tokens",
)


def show(visit: Visit) -> Response:
    """Show the table."""
    listing = AGENTS.listing(visit)
    agents = agent_overviews(visit.db, visit.now_ms, visit.policy)
    progress = _last_crawl(visit)
    cut = listing.cut(_sorted(visit, agents, listing, progress))
    cut = replace(cut, rows=_lines(visit, cut.rows, progress))
    tokens = list_join_tokens(visit.db, visit.now_ms) if visit.may("admin") else []
    return visit.page(
        "agents.html",
        list=AGENTS.page(visit, listing, cut),
        everybody=len(agents),
        progress=progress,
        counts=Counter(one.liveness.state.value for one in agents),
        states=STATES,
        newcomers=_newcomers(agents, visit.now_ms),
        tokens=TOKENS.part(visit, tokens),
    )


def _newcomers(agents: list[AgentOverview], now_ms: int) -> list[OverviewRow]:
    """Return the agents that joined lately, the last first: a person may be waiting for one."""
    rows = [view.row for view in agents if view.row.retired_ms is None]
    rows = [row for row in rows if now_ms - row.joined_ms < NEW_MS]
    return sorted(rows, key=lambda row: -row.joined_ms)[:NEW_SHOWN]


PAGES: Final = (
    *AGENTS.pages(show),
    *TOKENS.file_pages(),
)
