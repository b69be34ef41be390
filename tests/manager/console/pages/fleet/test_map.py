"""The map of agents: where they are, near ones as one point, hostile names as text."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

from manager.console.drawings.map_view import HEIGHT, NARROWEST, WIDTH, WORLD, view_of
from manager.console.listing import read_listing
from manager.console.pages.fleet.agent_map import spots
from manager.console.pages.fleet.agents import AGENTS
from manager.operations.fleet.agent_summaries import agent_overviews
from manager.operations.identity.agent_positions import set_position
from manager.operations.people.audit_log import audit_page
from shared.wire.positions import Position
from tests.manager.console.conftest import Visitor
from tests.manager.operations.world import ADMIN
from tests.manager.running import Running

PLAIN = read_listing(
    "/console/agents-map",
    {},
    filters=[one.name for one in AGENTS.filters],
    sorts=("name",),
    default_sort="name",
)
KYOTO, OSAKA = "kyoto.example.ac.jp", "osaka.example.ac.jp"


def test_near_agents_are_one_point_in_the_colour_of_the_worst(prsm: Running) -> None:
    """All points lie on the map, whatever was said; who has no position has none."""
    views = {view.row.name: view for view in agent_overviews(prsm.manager.db, prsm.clock())}
    one, other = views[KYOTO], views[OSAKA]

    def at(view: object, latitude: float, longitude: float) -> object:
        row = replace(view.row, latitude=latitude, longitude=longitude)  # type: ignore[attr-defined]
        return replace(view, row=row)  # type: ignore[type-var]

    far = at(other, -33.87, 151.2)
    (east, south) = spots([at(one, 35.03, 135.78), far], PLAIN)  # type: ignore[list-item]
    assert {east.label, south.label} == {KYOTO, OSAKA}
    near = [at(one, 35.03, 135.78), at(other, 34.7, 135.5)]
    (both,) = spots(near, PLAIN)  # type: ignore[arg-type]
    assert (both.agents, both.label) == (2, "2")
    for latitude, longitude in ((90, 180), (-90, -180), (0, 0)):
        for view in (WORLD, view_of([(latitude, longitude)])):
            (spot,) = spots([at(one, latitude, longitude)], PLAIN, view)  # type: ignore[list-item]
            assert 0 <= spot.x <= WIDTH
            assert 0 <= spot.y <= HEIGHT
    assert spots(views.values(), PLAIN) == []


def test_the_map_is_of_where_the_agents_are() -> None:
    """The agents of a country fill the map; those of several continents have the world."""
    japan = [(43.06, 141.35), (26.21, 127.68), (35.03, 135.78)]
    view = view_of(japan)
    points = [view.place(*place) for place in japan]
    assert all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in points)
    assert max(y for _, y in points) - min(y for _, y in points) > HEIGHT / 2
    assert view_of(japan[2:]).scale == pytest.approx(WIDTH / NARROWEST)
    assert view_of([*japan, (51.5, -0.1), (40.7, -74.0)]) == view_of([]) == WORLD
    # The land goes with the points: the corner of the view is the corner of the drawing.
    right, down, zoom = map(float, re.findall(r"-?[0-9.]+", view.land))
    corner = ((view.west + 180) * WORLD.scale, (WORLD.north - view.north) * WORLD.scale)
    assert (corner[0] * zoom + right, corner[1] * zoom + down) == pytest.approx((0, 0), abs=1)


@pytest.mark.parametrize("filters", ["", "state={state}", "state={state}&kind=sync&q=kyoto"])
def test_a_point_leads_to_the_agents_in_it(prsm: Running, person: Visitor, filters: str) -> None:
    """The table behind a point has the agents of the point, under the map's own filters."""
    db, browser = prsm.manager.db, person("viewer")
    views = {view.row.name: view for view in agent_overviews(db, prsm.clock())}
    for name in views:
        set_position(db, name, Position(35, 135), ADMIN, prsm.clock())
    set_position(db, KYOTO, Position(-33.87, 151.2), ADMIN, prsm.clock())
    state = Counter(view.liveness.state.value for view in views.values()).most_common(1)[0][0]
    drawn = browser.page(f"/console/agents-map?{filters.format(state=state)}")
    points = [
        each.attributes
        for each in drawn.all("a")
        if "map-spot" in each.attributes.get("class", "") and "area=" in each.attributes["href"]
    ]
    for point in points:
        table = browser.get(point["href"].replace("/agents?", "/agents.csv?")).text
        named = {row.partition(",")[0] for row in table.splitlines()[1:]}
        assert named == {line.partition(":")[0] for line in point["aria-label"].splitlines()}
    assert len(points) == (0 if "kyoto" in filters else 1)


def test_an_area_that_is_none_is_refused(person: Visitor) -> None:
    """By the map and by the table, with what it should be."""
    for path in ("agents", "agents-map"):
        for text in ("here", "1,2,3", "1,2,3,nan"):
            answer = person("viewer").get(f"/console/{path}?area={text}")
            assert answer.status_code == 400
            assert "four numbers of degrees" in answer.text


def test_a_position_is_said_on_the_agents_page(prsm: Running, person: Visitor) -> None:
    """And then the map has it; what is nowhere is refused."""
    browser, page = person("operator"), f"/console/agent?name={KYOTO}"
    assert KYOTO in browser.page("/console/agents-map").text
    changes = {"latitude": "35.03", "longitude": "135.78"}
    browser.follow(browser.act(page, "/console/agent/position", changes))
    assert audit_page(prsm.manager.db, limit=1)[0].action == "agent.set-position"
    shown = browser.page("/console/agents-map")
    assert any(link.attributes.get("href") == page for link in shown.all("a"))
    wrong = browser.act(page, "/console/agent/position", {"latitude": "91", "longitude": "0"})
    assert wrong.status_code == 400
    empty = {"latitude": "", "longitude": ""}
    browser.follow(browser.act(page, "/console/agent/position", empty))
    views = {view.row.name: view for view in agent_overviews(prsm.manager.db, prsm.clock())}
    assert views[KYOTO].row.latitude is None
    set_position(prsm.manager.db, KYOTO, Position(1, 2), ADMIN, prsm.clock())
    viewer = person("viewer")
    assert viewer.post("/console/agent/position", {"csrf": viewer.csrf}).status_code == 403
