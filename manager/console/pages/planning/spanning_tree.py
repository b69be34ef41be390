"""The spanning tree of a plan as a page and a file, and its edges as a table and CSV."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from starlette.responses import Response

from manager.console.drawings.agent_tree import MANY, draw_tree
from manager.console.drawings.drawing import svg_download
from manager.console.language import lazy
from manager.console.pages.planning.plan_tables import FLOWS
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import AGENT, DURATION, FIGURE, NUMBER
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table, View
from manager.operations.planning.plan_tree import Flow, PlanTree, TreeEdge, plan_tree
from shared.frozen import frozen

__all__ = ["EDGES", "PAGES", "ShownTree", "shown_tree"]

EDGES_SHOWN: Final = 10
DRAWN_MOST: Final = 300
"""Agents that a page draws: a larger tree is in its file, in the table, and as its moves."""
FLOWS_SHOWN: Final = 10
FLOWS_MOST: Final = 200  # on the page of the tree: a thousand are heavier than all the rest


EDGES: Final[Table[TreeEdge]] = Table(
    "/plans/{number:int}/tree",
    "Edges of the spanning tree of a plan",
    InMemory(lambda visit: plan_tree(visit.db, visit.number).edges),
    (
        Column(
            "first", lambda edge: edge.first, lazy("A"), AGENT, "agent A", True, style="numbered"
        ),
        Column("second", lambda edge: edge.second, lazy("B"), AGENT, "agent B", sort=True),
        Column(
            "length",
            lambda edge: edge.length,
            lazy("Length, ms/KB"),
            FIGURE,
            "length (ms/KB)",
            True,
        ),
        Column(
            "give", lambda edge: edge.give_ms, lazy("Give(A,B)"), DURATION, "Give(A,B) (ms)", True
        ),
        Column(
            "giveback",
            lambda edge: edge.give_back_ms,
            lazy("Give(B,A)"),
            DURATION,
            "Give(B,A) (ms)",
            True,
        ),
        Column(
            "move",
            lambda edge: edge.move_ms,
            lazy("Move(A,B)"),
            DURATION,
            "Move(A,B) (ms)",
            sort_by=lambda edge: abs(edge.move_ms),
            about="negative: from B to A",
        ),
        Column(
            "units",
            lambda edge: edge.units + edge.units_back,
            lazy("Units moved"),
            NUMBER,
            None,
            True,
        ),
        Column("units_ab", lambda edge: edge.units, kind=NUMBER, file="units from A to B"),
        Column("cost_a", lambda edge: edge.moved_ms, kind=DURATION, file="their cost at A (ms)"),
        Column("units_ba", lambda edge: edge.units_back, kind=NUMBER, file="units from B to A"),
        Column(
            "cost_b", lambda edge: edge.moved_back_ms, kind=DURATION, file="their cost at B (ms)"
        ),
    ),
    filters=(
        Filter(
            "agent",
            kind="own",
            about="agent at either end",
            keeps=lambda edge, agent: agent in (edge.first, edge.second),
        ),
        Filter("edges", kind="own", about="edges of the drawing: all or moved"),
    ),
    default_sort="-move",
    files="plan-{number}-tree",
)


@frozen
class ShownTree:
    """The tree as a page shows it. only_moved: edges along which nothing moves are left out.

    svg: the drawing; file: where it is by itself. edges: those with the greatest Move. apart: what
    moves between agents that are no neighbours, the most first. *_left: how many more there are, of
    edges also those that are left out.
    """

    tree: PlanTree
    only_moved: bool
    svg: Markup
    file: str
    edges: View[TreeEdge]
    edges_left: int
    apart: View[Flow]
    apart_left: int


def shown_tree(visit: Visit, number: int) -> ShownTree | None:
    """Return the tree of a plan as the URL asks for it; None: one agent has no tree."""
    tree = plan_tree(visit.db, number)
    if not tree.edges:
        return None
    only_moved = _only_moved(visit, tree)
    shown = [one for one in tree.edges if not only_moved or one.units or one.units_back]
    edges = sorted(shown, key=lambda one: -abs(one.move_ms))
    apart = [flow for flow in tree.flows if not flow.neighbours]
    return ShownTree(
        tree,
        only_moved,
        draw_tree(tree, only_moved=only_moved).svg,
        tree_file(number, only_moved=only_moved),
        EDGES.part(visit, edges[:EDGES_SHOWN]),
        len(tree.edges) - len(edges[:EDGES_SHOWN]),
        FLOWS.part(visit, apart[:FLOWS_SHOWN]),
        max(0, len(apart) - FLOWS_SHOWN),
    )


def tree_file(number: int, *, only_moved: bool) -> str:
    """Return where the drawing of a plan's tree is by itself."""
    return f"/console/plans/{number}/tree.svg?edges={'moved' if only_moved else 'all'}"


def _only_moved(visit: Visit, tree: PlanTree) -> bool:
    """Return what to draw: the URL's choice, or the moves alone where agents are many."""
    asked = visit.query.get("edges", "")
    moves = any(one.units or one.units_back for one in tree.edges)
    if len(tree.agents) > DRAWN_MOST and not visit.here.endswith(".svg"):
        return True
    return asked == "moved" or (asked != "all" and len(tree.agents) > MANY and moves)


def show(visit: Visit) -> Response:
    """Show the tree by itself: all its edges as a table that sorts and pages."""
    number = visit.number
    tree = plan_tree(visit.db, number)
    only_moved = _only_moved(visit, tree)
    return visit.page(
        "tree.html",
        number=number,
        tree=tree,
        only_moved=only_moved,
        svg=draw_tree(tree, only_moved=only_moved).svg if tree.edges else "",
        file=tree_file(number, only_moved=only_moved),
        list=EDGES.view(visit, tree.edges),
        flows=FLOWS.part(visit, tree.flows[:FLOWS_MOST]),
        flows_left=max(0, len(tree.flows) - FLOWS_MOST),
        names=sorted(one.name for one in tree.agents),
    )


def file(visit: Visit) -> Response:
    """Send the drawing."""
    tree = plan_tree(visit.db, visit.number)
    drawing = draw_tree(tree, only_moved=_only_moved(visit, tree))
    return svg_download(drawing, f"plan-{visit.number}-tree")


PAGES: Final = (
    *EDGES.pages(show),
    Page("GET", "/plans/{number:int}/tree.svg", "viewer", file, query=("edges",)),
)
