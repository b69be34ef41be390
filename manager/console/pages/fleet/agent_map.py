"""Agents on a map, drawn by the server: where they are and how they are.

Agents that lie close together are one point, as large as there are many, in the colour of the one
that is worst. Which part of the world is drawn says `map_view`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from starlette.responses import Response

from manager.assignment.liveness import LivenessState
from manager.console.drawings.map_view import HEIGHT, WIDTH, WORLD, View, area_of, view_of
from manager.console.language import _, number
from manager.console.listing import Listing
from manager.console.messages.sentences import word
from manager.console.pages.fleet.agents import AGENTS, matching
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, link
from manager.operations.fleet.agent_summaries import AgentOverview, agent_overviews
from shared.frozen import frozen

__all__ = ["PAGES", "Spot", "spots"]

CELL: Final = 24
"""Points nearer than this are one: about a finger on a telephone."""

NAMED: Final = 8
GAP, LETTER, LINE = 6, 12, 26
STATES: Final = tuple(state.value for state in LivenessState)
WORST: Final = (
    "lost",
    "late",
    "new",
    "paused",
    "draining",
    "asleep",
    "idle",
    "working",
    "left",
    "retired",
)
SHAPES: Final = {
    "late": "M0-12 12 0 0 12-12 0z",
    "lost": "M-9-9H9V9H-9z",
    "draining": "M-9-9H9V9H-9z",
    "paused": "M-9-9h6V9h-6zM3-9h6V9h-6z",
    "left": "M-9-3H9V3H-9z",
    "retired": "M-9-3H9V3H-9z",
}
"""What is no circle: the mark that the state has beside its word (`states.css`), around 0 0."""


@frozen
class Spot:
    """A point of the map. x, y: of 2000 and 800; state: of the worst agent there.

    side: where its label is; empty: there is no room, or it is the number of agents.
    shape: of `SHAPES`; empty: a circle, as that of several agents always is.
    """

    x: int
    y: int
    radius: int
    state: str
    title: str
    label: str
    url: str
    agents: int
    shape: str = ""
    side: str = ""


def _placed(overviews: Iterable[AgentOverview]) -> list[tuple[float, float, AgentOverview]]:
    """Return the agents of which it is known where they are, with latitude and longitude."""
    return [
        (one.row.latitude, one.row.longitude, one)
        for one in overviews
        if one.row.latitude is not None and one.row.longitude is not None
    ]


def spots(overviews: Iterable[AgentOverview], listing: Listing, view: View = WORLD) -> list[Spot]:
    """Return the points of agents whose position is known, the largest first.

    listing: that left these agents; a point of several leads to the table of exactly those.
    """
    cells: dict[tuple[int, int], list[tuple[int, int, AgentOverview]]] = {}
    for latitude, longitude, one in _placed(overviews):
        x, y = view.place(latitude, longitude)
        cells.setdefault((x // CELL, y // CELL), []).append((x, y, one))
    made = [_spot(found, listing) for found in cells.values()]
    return _labelled(sorted(made, key=lambda spot: (-spot.agents, spot.x, spot.y)))


def _labelled(found: Sequence[Spot]) -> list[Spot]:
    """Return the points, of single agents those named whose name covers nothing else."""
    taken = [
        (spot.x - spot.radius, spot.y - spot.radius, spot.x + spot.radius, spot.y + spot.radius)
        for spot in found
    ]
    made = []
    for place, spot in enumerate(found):
        side = ""
        for name in ("right", "left") if spot.agents == 1 else ():
            box = _box(spot, name)
            free = box[0] >= 0 and box[2] <= WIDTH
            others = [each for number, each in enumerate(taken) if number != place]
            if free and not any(_meet(box, each) for each in others):
                side = name
                taken.append(box)
                break
        made.append(replace(spot, side=side))
    return made


def _box(spot: Spot, side: str) -> tuple[int, int, int, int]:
    near, width = spot.radius + GAP, LETTER * len(spot.label)
    left = spot.x + near if side == "right" else spot.x - near - width
    return left, spot.y - LINE // 2, left + width, spot.y + LINE // 2


def _meet(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _spot(found: Sequence[tuple[int, int, AgentOverview]], listing: Listing) -> Spot:
    views = sorted((view for _, _, view in found), key=_badness)
    names = [f"{view.row.name}: {word(view.liveness.state.value)}" for view in views[:NAMED]]
    if len(views) > NAMED:
        names.append(_("and %(number)s more", number=number(len(views) - NAMED)))
    first = views[0]
    alone = len(views) == 1
    return Spot(
        round(sum(x for x, _, _ in found) / len(found)),
        round(sum(y for _, y, _ in found) / len(found)),
        min(30, 9 + round(3 * (len(views) - 1) ** 0.5)),
        first.liveness.state.value,
        "\n".join(names),
        first.row.name if alone else number(len(views)),
        link("agent", name=first.row.name) if alone else _table(views, listing),
        len(views),
        SHAPES.get(first.liveness.state.value, "") if alone else "",
    )


def _badness(view: AgentOverview) -> tuple[int, str]:
    return WORST.index(view.liveness.state.value), view.row.name


def _table(views: Sequence[AgentOverview], listing: Listing) -> str:
    """Return the address of the table of some agents at one place; points share no place."""
    places = [(row.latitude or 0.0, row.longitude or 0.0) for row in (view.row for view in views)]
    return listing.url("/console/agents", area=str(area_of(places)))


def show(visit: Visit) -> Response:
    """Show the map of the agents that the filters leave."""
    listing = replace(AGENTS.listing(visit), path="/console/agents-map")
    chosen = matching(agent_overviews(visit.db, visit.now_ms, visit.policy), listing)
    view = view_of([(latitude, longitude) for latitude, longitude, _one in _placed(chosen)])
    found = spots(chosen, listing, view)
    return visit.page(
        "agents_map.html",
        list=AGENTS.page(visit, listing, listing.cut(())),
        spots=found,
        view=view,
        gap=GAP,
        width=WIDTH,
        height=HEIGHT,
        agents=sum(spot.agents for spot in found),
        by_state=_by_state(chosen),
        unplaced=[one.row.name for one in chosen if one.row.latitude is None],
    )


def _by_state(views: Sequence[AgentOverview]) -> list[tuple[str, int]]:
    """Return how many of the agents on the map are in each state, in the order of the states."""
    counted = Counter(view.liveness.state.value for view in views if view.row.latitude is not None)
    return [(state, counted[state]) for state in STATES if counted[state]]


PAGES: Final = (Page("GET", "/agents-map", "viewer", show, query=AGENTS.query),)
