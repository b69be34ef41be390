"""The spanning tree of agents as a drawing: a row for each agent, neighbours joined by lines.

Laid out from the middle of the tree downwards, so that three agents are a small picture and two
hundred a long one that scrolls. The label of a line is computed along it: an arrow shows where
Move goes, its width how much; ↓ is from the upper agent to the lower. Of a method that does not
follow Move an arrow shows where the units go. Where only the lines are drawn along which the plan
moves units, the tree falls into pieces, one below the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final

from manager.console import figures
from manager.console.drawings.drawing import Drawing, text_width
from manager.console.language import _, ngettext
from manager.operations.planning.plan_tree import PlanTree, TreeAgent, TreeEdge
from shared.frozen import frozen

__all__ = ["MANY", "draw_tree"]

MANY: Final = 40
"""Agents above which only the edges that something moves along are drawn at first."""
ROW: Final = 44.0
INDENT: Final = 32.0
EDGE: Final = 16.0
THICKEST: Final = 8.0
ADVANCE: Final = 14.0


@frozen
class _Row:
    """An agent with the edge to the agent above it; None: it has none."""

    agent: TreeAgent
    depth: int
    above: int | None
    edge: TreeEdge | None


def draw_tree(tree: PlanTree, *, only_moved: bool) -> Drawing:
    """Return the drawing. only_moved: just the edges along which the plan moves units."""
    edges = [one for one in tree.edges if not only_moved or one.units or one.units_back]
    joined = {name for one in edges for name in (one.first, one.second)}
    fleet = [one for one in tree.agents if one.name in joined or not only_moved]
    rows = _laid_out(fleet, edges)
    words_x = max(
        (_x(row.depth) + ADVANCE + text_width(row.agent.name, 14, bold=True) for row in rows),
        default=0.0,
    )
    costs_x = max(
        (_x(row.depth) + ADVANCE + text_width(_costs(row.agent), 12) for row in rows), default=0.0
    )
    column = max(words_x, costs_x) + 18
    said = [_on_edge(row) for row in rows]
    right = max((text_width(line, 13) for lines in said for line in lines), default=0.0)
    drawing = Drawing(
        "agent-tree",
        max(280.0, column + right + EDGE),
        len(rows) * ROW + 12,
        _("Spanning tree of the agents of plan %(plan)s", plan=tree.plan),
        _described(tree, rows, only_moved=only_moved),
    )
    if not rows:
        nothing = _("The plan moves nothing between neighbours.")
        drawing.words(EDGE, ROW / 2, nothing, "soft")
        drawing.width, drawing.height = EDGE * 2 + text_width(nothing, 14), ROW
    most = max((abs(_flow(tree, one)) for one in edges), default=0.0)
    busiest = max((one.cost_ms for one in tree.agents), default=0.0)
    for place, row in enumerate(rows):
        if row.edge is not None:
            _join(drawing, row, place, _from_above(row.edge, row, _flow(tree, row.edge)), most)
    for place, row in enumerate(rows):
        x, y = _x(row.depth), _y(place)
        is_busiest = row.agent.cost_ms >= busiest > 0
        drawing.dot(x, y, 6, "bad" if is_busiest else "busy", row.agent.name)
        drawing.words(x + ADVANCE, y - 1, row.agent.name, size=14, bold=True)
        drawing.words(x + ADVANCE, y + 14, _costs(row.agent), "soft", size=12)
        for line, text in enumerate(said[place]):
            drawing.words(column, y - 1 + 15 * line, text, "soft" if line else "ink", size=13)
    return drawing


def _x(depth: int) -> float:
    return EDGE + depth * INDENT


def _y(place: int) -> float:
    return ROW * place + ROW / 2 + 2


def _laid_out(fleet: Sequence[TreeAgent], edges: Sequence[TreeEdge]) -> list[_Row]:
    """Return the rows from above: of each piece its middle first, then what hangs on it."""
    near: dict[str, list[tuple[str, TreeEdge]]] = {one.name: [] for one in fleet}
    for edge in edges:
        near[edge.first].append((edge.second, edge))
        near[edge.second].append((edge.first, edge))
    by_name = {one.name: one for one in fleet}
    rows: list[_Row] = []
    seen: set[str] = set()
    for one in fleet:
        if one.name in seen:
            continue
        root = _middle(one.name, near)
        waiting: list[tuple[str, int, int | None, TreeEdge | None]] = [(root, 0, None, None)]
        while waiting:
            name, depth, above, edge_up = waiting.pop()
            seen.add(name)
            rows.append(_Row(by_name[name], depth, above, edge_up))
            here = len(rows) - 1
            below = [(other, edge) for other, edge in near[name] if other not in seen]
            for other, edge in sorted(below, key=lambda pair: pair[0], reverse=True):
                waiting.append((other, depth + 1, here, edge))
    return rows


def _middle(name: str, near: Mapping[str, list[tuple[str, TreeEdge]]]) -> str:
    """Return the agent in the middle of the longest way through a tree."""
    one_end = _way(name, near)[-1]
    way = _way(one_end, near)
    return way[len(way) // 2]


def _way(start: str, near: Mapping[str, list[tuple[str, TreeEdge]]]) -> list[str]:
    """Return the longest way from an agent."""
    came: dict[str, str | None] = {start: None}
    waiting = deque([start])
    last = start
    while waiting:
        last = waiting.popleft()
        for other, _edge in near[last]:
            if other not in came:
                came[other] = last
                waiting.append(other)
    way: list[str] = []
    step: str | None = last
    while step is not None:
        way.append(step)
        step = came[step]
    return way


def _join(drawing: Drawing, row: _Row, place: int, down: float, most: float) -> None:
    """Draw the line from an agent up to its neighbour, with an arrow where something goes.

    down: how much goes from the upper to the lower agent. most: along any line.
    """
    assert row.above is not None, "only agents with a neighbour above are joined"
    x, y = _x(row.depth), _y(place)
    up_x, up_y = x - INDENT, _y(row.above)
    thick = 1.5 + (THICKEST - 1.5) * abs(down) / most if most > 0 and down else 1.5
    ink = "busy" if down else "calm"
    # One stem is of many edges: only the part that is an edge's own shows how much it is.
    drawing.line([(up_x, up_y + 6), (up_x, y)], "calm", 1.5)
    half = thick / 2 + 3
    if down > 0:
        drawing.line([(up_x, y), (x - 14, y)], ink, thick)
        drawing.area([(x - 16, y - half), (x - 16, y + half), (x - 6, y)], ink)
    elif down < 0:
        drawing.line([(up_x + 9, y), (x - 6, y)], ink, thick)
        drawing.area([(up_x + 11, y - half), (up_x + 11, y + half), (up_x + 1, y)], ink)
    else:
        drawing.line([(up_x, y), (x - 6, y)], ink, thick)


def _flow(tree: PlanTree, edge: TreeEdge) -> float:
    """Return how much goes from the first agent of an edge to the second: Move, or units."""
    return edge.move_ms if tree.method == "tree" else edge.units - edge.units_back


def _from_above(edge: TreeEdge, row: _Row, amount: float) -> float:
    """Return an amount of an edge as seen from the upper agent."""
    return amount if edge.second == row.agent.name else -amount


def _on_edge(row: _Row) -> list[str]:
    """Return the two lines of label beside an agent, for the edge above it."""
    if row.edge is None:
        return []
    edge = row.edge
    down = _from_above(edge, row, edge.move_ms)
    lower_is_second = edge.second == row.agent.name
    there, back = (
        (edge.give_ms, edge.give_back_ms) if lower_is_second else (edge.give_back_ms, edge.give_ms)
    )
    first = _("Move 0")
    if down:
        arrow = "↓" if down > 0 else "↑"
        first = _("Move %(arrow)s %(time)s", arrow=arrow, time=figures.duration(abs(down)))
    units, units_back = edge.units, edge.units_back
    if not lower_is_second:
        units, units_back = units_back, units
    moved = [f"{arrow} {count:,}" for arrow, count in (("↓", units), ("↑", units_back)) if count]
    if moved:
        first += " · " + _("units %(moved)s", moved=" ".join(moved))
    second = _("Give ↓ %(there)s ↑ %(back)s", there=_signed(there), back=_signed(back))
    return [first, second]


def _signed(length_ms: float) -> str:
    return f"{'−' if length_ms < 0 else ''}{figures.duration(abs(length_ms))}"


def _costs(agent: TreeAgent) -> str:
    return f"{figures.duration(agent.before_ms)} → {figures.duration(agent.after_ms)}"


def _described(tree: PlanTree, rows: Sequence[_Row], *, only_moved: bool) -> str:
    moving = sum(1 for one in tree.edges if one.units or one.units_back)
    parts = [
        ngettext("%(num)s agent is drawn.", "%(num)s agents are drawn.", len(rows)),
        ngettext(
            "The plan moves units along %(num)s edge.",
            "The plan moves units along %(num)s edges.",
            moving,
        ),
        _("The table below the drawing has the same figures."),
    ]
    if only_moved:
        parts.insert(1, _("Edges without moves are left out."))
    return " ".join(parts)
