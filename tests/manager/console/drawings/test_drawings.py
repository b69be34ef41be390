"""Drawings: well-formed, escaped, told in words, and within their size for any number of agents."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from manager.console.drawings.agent_bars import Pair, draw_bars
from manager.console.drawings.agent_tree import draw_tree
from manager.console.drawings.drawing import Drawing, Instant
from manager.console.drawings.series import Line, draw_series, scale_of
from manager.operations.planning.plan_tree import PlanTree, TreeAgent, TreeEdge
from tests.manager.console.filled import HOSTILE, SCRIPT

SVG = "{http://www.w3.org/2000/svg}"


def tree_of(count: int, moving: int = 0) -> PlanTree:
    """Return a tree of so many agents, of whose edges so many move units."""
    names = [f"agent{number}" if number else HOSTILE for number in range(count)]
    edges = [
        TreeEdge(names[(at - 1) // 2], names[at], 1.0, 5.0, -3.0, 3.0 - at % 7, 0, 0.0, 0, 0.0)
        if at > moving
        else TreeEdge(names[(at - 1) // 2], names[at], 1.0, 5.0, -3.0, 3.0, 4, 9.0, 0, 0.0)
        for at in range(1, count)
    ]
    agents = [TreeAgent(name, 1000.0 * at, 7.0, 1000.0 * at, 9.0) for at, name in enumerate(names)]
    return PlanTree(7, "tree", "before", agents, edges, [])


def read_drawing(drawing: Drawing) -> ElementTree.Element:
    """Return the file of a drawing, after a look at what all must be."""
    text = drawing.file
    assert SCRIPT not in text
    assert "\u202e" not in text
    assert "style=" not in drawing.svg
    root = ElementTree.fromstring(text)  # our own
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert title.text
    assert desc.text
    named = f"{title.get('id')} {desc.get('id')}"
    assert root.get("aria-labelledby") == named
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    for shape in root.iter():
        for name, most in (("x", width), ("cx", width), ("y", height), ("cy", height)):
            assert -0.1 <= float(shape.get(name, "0")) <= most + 0.1, shape.attrib
    return root


@pytest.mark.parametrize("count", [2, 3, 17, 200])
def test_every_agent_is_drawn_and_joined(count: int) -> None:
    """One point an agent, one line an edge; long trees grow downwards, not sideways."""
    root = read_drawing(draw_tree(tree_of(count), only_moved=False))
    assert len(root.findall(f"{SVG}circle")) == count
    assert len(root.findall(f"{SVG}polyline")) == 2 * (count - 1)
    assert float(root.get("width", "0")) < 1000
    said = " ".join("".join(root.itertext()).split())
    assert said.count("Give ↓") == count - 1


def test_a_name_ends_before_what_is_said_of_its_edge() -> None:
    """Also in DejaVu Sans Bold, which many systems have: 0.62 of its size a sign in such names."""
    long = "robot.south.example.edu.au"
    agents = [TreeAgent(name, 1.0, 1.0, 1.0, 1.0) for name in ("a", long)]
    edge = TreeEdge("a", long, 1.0, 5.0, -2.0, 2.0, 3, 1.0, 0, 0.0)
    root = read_drawing(
        draw_tree(PlanTree(1, "tree", "before", agents, [edge], []), only_moved=False)
    )
    words = {"".join(one.itertext()): one for one in root.iter(f"{SVG}text")}
    (move,) = (one for text, one in words.items() if text.startswith("Move"))
    ends = float(words[long].get("x", "0")) + 0.62 * 14 * len(long)
    assert float(move.get("x", "0")) > ends + 10


def test_only_what_moves_is_drawn_where_that_is_asked_for() -> None:
    """The other agents are left out, and the drawing says so."""
    root = read_drawing(draw_tree(tree_of(200, moving=5), only_moved=True))
    assert len(root.findall(f"{SVG}circle")) == 6
    assert len(root.findall(f"{SVG}polyline")) == 10
    assert "left out" in "".join(root.itertext())
    none = read_drawing(draw_tree(tree_of(200), only_moved=True))
    assert "moves nothing" in "".join(none.itertext())


def test_the_direction_of_move_does_not_depend_on_which_end_is_named_first() -> None:
    """Turned round, an edge is drawn the same: Move(A,B) = -Move(B,A)."""
    agents = [TreeAgent(name, 1.0, 1.0, 1.0, 1.0) for name in ("a", "b", "c")]
    one = TreeEdge("a", "b", 1.0, 5.0, -2.0, 2.0, 3, 1.0, 0, 0.0)
    turned = TreeEdge("b", "a", 1.0, -2.0, 5.0, -2.0, 0, 0.0, 3, 1.0)
    other = TreeEdge("b", "c", 1.0, 0.0, 0.0, 0.0, 0, 0.0, 0, 0.0)
    drawn = [
        draw_tree(PlanTree(1, "tree", "before", agents, [edge, other], []), only_moved=False).file
        for edge in (one, turned)
    ]
    assert drawn[0] == drawn[1]


def test_an_arrow_shows_what_the_method_of_the_plan_goes_by() -> None:
    """Move where the plan follows it; else units, however large Move is."""
    agents = [TreeAgent(name, 1.0, 1.0, 1.0, 1.0) for name in ("a", "b", "c")]
    one = TreeEdge("a", "b", 1.0, 5.0, -2.0, 2.0, 0, 0.0, 3, 1.0)
    other = TreeEdge("b", "c", 1.0, 5.0, -2.0, 9.0, 0, 0.0, 0, 0.0)
    tree, prices = (
        read_drawing(
            draw_tree(PlanTree(1, name, "before", agents, [one, other], []), only_moved=False)
        ).findall(f"{SVG}polygon")
        for name in ("tree", "prices")
    )
    assert len(tree) == 2
    assert len(prices) == 1, "nothing moves between b and c"
    assert tree[0].get("points") != prices[0].get("points"), "units go the other way"


def test_a_series_has_a_line_for_each_known_stretch() -> None:
    """What is not known breaks the line; the grid holds the greatest number."""
    lines = [Line(SCRIPT, "busy", [1.0, None, 3.0, 4.0], filled=True), Line("none", "bad", [None])]
    root = read_drawing(
        draw_series("s", "t", "d", ["1", "2", "3", "4"], lines, lambda number: f"{number:g}")
    )
    assert len(root.findall(f"{SVG}circle")) == 3
    assert len(root.findall(f"{SVG}polygon")) == 1
    assert [scale_of(n) for n in (0, 0.03, 4, 99, 101)] == [
        (1.0, 1), (0.01, 3), (1.0, 4), (25.0, 4), (50.0, 3),
    ]  # fmt: skip
    read_drawing(draw_series("s", "t", "d", [], [], str))


def test_of_two_lines_that_say_the_same_both_are_seen() -> None:
    """The wide one lies below; the narrow one leaves its edges free."""
    lines = [Line("planned", "calm", [1.0, 2.0], wide=True), Line("measured", "busy", [1.0, 2.0])]
    root = read_drawing(draw_series("s", "t", "d", ["1", "2"], lines, str))
    of = {ink: root.findall(f"{SVG}polyline[@class='line-{ink}']") for ink in ("calm", "busy")}
    below, above = of["calm"][0], of["busy"][0]  # before the legend
    assert below.get("points") == above.get("points")
    assert float(below.get("stroke-width", 0)) > 2 * float(above.get("stroke-width", 0)) > 0
    order = list(root)
    assert order.index(below) < order.index(above)


def test_places_that_are_times_say_them_for_the_browser() -> None:
    """Each label and tip has its moment, so that the page shows all times in one zone."""
    hours = [Instant(f"2026-11-26T{hour:02}:00:00Z", f"{hour:02}:00", "time") for hour in (9, 10)]
    lines = [Line("pages/s", "busy", [1.0, 2.0])]
    places = [hour.said for hour in hours]
    root = read_drawing(draw_series("s", "t", "d", places, lines, str, moments=hours))
    for text in [*root.iter(f"{SVG}text"), *root.iter(f"{SVG}title")]:
        if ":00" in (text.text or ""):
            assert text.get("data-at") == f"2026-11-26T{text.get('data-said')}:00Z"
            assert text.get("data-said", "?") in (text.text or "")
    assert [one.text for one in root.iter(f"{SVG}text") if one.get("data-zone") == ""] == ["UTC"]


def test_bars_share_one_scale_with_the_bound() -> None:
    """The longest is as long as there is room; what is not known has no bar."""
    pairs = [Pair(HOSTILE, 50.0, 100.0), Pair("b", None, 25.0)]
    root = read_drawing(draw_bars("b", "t", ("x", "y"), pairs, 20.0))
    widths = [float(box.get("width", "0")) for box in root.findall(f"{SVG}rect")[3:]]
    longest = max(widths)
    assert [size / longest for size in widths] == pytest.approx([0.5, 1.0, 0.25], abs=0.001)
    bounds = root.findall(f"{SVG}polyline")[1:]  # behind the legend's
    places = [float(one.get("points", "0,0").split(",")[0]) for one in bounds]
    assert places == pytest.approx([8 + longest / 5] * 2, abs=0.1)


def test_what_is_not_over_ends_in_dots() -> None:
    """The last stretch is another line, not filled; its points say so. A line that ended is not."""
    lines = [
        Line("all", "busy", [1.0, 3.0, 2.0], filled=True),
        Line("ended", "bad", [1.0, 2.0, None]),
        Line("new", "good", [None, None, 2.0]),
    ]
    root = read_drawing(
        draw_series("s", "t", "d", ["1", "2", "3"], lines, lambda n: f"{n:g}", runs_on="so far")
    )
    drawn = root.findall(f"{SVG}polyline")
    dotted = [one for one in drawn if one.get("stroke-dasharray") == "1 4"]
    assert [one.get("class") for one in dotted] == ["line-busy"]
    hollow = [one for one in root.findall(f"{SVG}circle") if one.get("fill") == "none"]
    assert len(hollow) == 2, "points of what is not over"
    assert "so far" in [one.text for one in root.iter(f"{SVG}text")]
    [area] = root.findall(f"{SVG}polygon")
    whole = next(one for one in drawn if one.get("class") == "line-busy")
    end, begin = str(whole.get("points")).split()[-1], str(dotted[0].get("points")).split()[0]
    assert end == begin
    assert str(area.get("points")).split()[-2] == end
    tips = [one.text for one in root.iter(f"{SVG}title") if one.text]
    assert [tip for tip in tips if tip.endswith("(so far)")] == [
        "3 all 2 (so far)",
        "3 new 2 (so far)",
    ]
