"""The spanning tree of a plan as a page and a file, and its edges as a table and CSV."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from markupsafe import Markup
from starlette.responses import Response

from manager.console.csv_export import Cell, csv_response
from manager.console.drawings.agent_tree import MANY, draw_tree
from manager.console.listing import LISTED, Listing, read_listing
from manager.console.pages.drawing_files import drawing_file
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.planning.plan_tree import Flow, PlanTree, TreeEdge, plan_tree
from shared.frozen import frozen

__all__ = ["PAGES", "ShownTree", "shown_tree"]

FILTERS: Final = ("agent", "edges")
KEYS: Final[dict[str, Callable[[TreeEdge], Any]]] = {
    "first": lambda row: row.first,
    "second": lambda row: row.second,
    "length": lambda row: row.length,
    "give": lambda row: row.give_ms,
    "giveback": lambda row: row.give_back_ms,
    "move": lambda row: abs(row.move_ms),
    "units": lambda row: row.units + row.units_back,
}
HEADER: Final = (
    "agent A",
    "agent B",
    "length (ms/KB)",
    "Give(A,B) (ms)",
    "Give(B,A) (ms)",
    "Move(A,B) (ms)",
    "units from A to B",
    "their cost at A (ms)",
    "units from B to A",
    "their cost at B (ms)",
)
EDGES_SHOWN: Final = 10
DRAWN_MOST: Final = 300
"""Agents that a page draws: a larger tree is in its file, in the table, and as its moves."""
FLOWS_SHOWN: Final = 10
FLOWS_MOST: Final = 200  # on the page of the tree: a thousand are heavier than all the rest


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
    edges: list[TreeEdge]
    edges_left: int
    apart: list[Flow]
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
        edges[:EDGES_SHOWN],
        len(tree.edges) - len(edges[:EDGES_SHOWN]),
        apart[:FLOWS_SHOWN],
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


def _edges(tree: PlanTree, listing: Listing) -> list[TreeEdge]:
    agent = listing.filters["agent"]
    return [one for one in tree.edges if agent in ("", one.first, one.second)]


def show(visit: Visit) -> Response:
    """Show the tree by itself: all its edges as a table that sorts and pages."""
    number = visit.number
    tree = plan_tree(visit.db, number)
    listing = _listing(visit, number)
    only_moved = _only_moved(visit, tree)
    return visit.page(
        "tree.html",
        number=number,
        tree=tree,
        only_moved=only_moved,
        svg=draw_tree(tree, only_moved=only_moved).svg if tree.edges else "",
        file=tree_file(number, only_moved=only_moved),
        listing=listing,
        cut=listing.cut(listing.sorted(_edges(tree, listing), KEYS)),
        flows=tree.flows[:FLOWS_MOST],
        flows_left=max(0, len(tree.flows) - FLOWS_MOST),
        names=sorted(one.name for one in tree.agents),
    )


def _listing(visit: Visit, number: int) -> Listing:
    return read_listing(
        f"/console/plans/{number}/tree",
        visit.query,
        filters=FILTERS,
        sorts=tuple(KEYS),
        default_sort="-move",
    )


def export(visit: Visit) -> Response:
    """Send the edges as CSV."""
    number = visit.number
    tree, listing = plan_tree(visit.db, number), _listing(visit, number)
    rows = listing.sorted(_edges(tree, listing), KEYS)
    return csv_response(f"plan-{number}-tree", HEADER, (_cells(row) for row in rows))


def _cells(row: TreeEdge) -> list[Cell]:
    return [
        row.first,
        row.second,
        row.length,
        row.give_ms,
        row.give_back_ms,
        row.move_ms,
        row.units,
        row.moved_ms,
        row.units_back,
        row.moved_back_ms,
    ]


def file(visit: Visit) -> Response:
    """Send the drawing."""
    tree = plan_tree(visit.db, visit.number)
    drawing = draw_tree(tree, only_moved=_only_moved(visit, tree))
    return drawing_file(drawing, f"plan-{visit.number}-tree")


PAGES: Final = (
    Page("GET", "/plans/{number:int}/tree", "viewer", show, query=(*FILTERS, *LISTED)),
    Page("GET", "/plans/{number:int}/tree.csv", "viewer", export, query=(*FILTERS, *LISTED)),
    Page("GET", "/plans/{number:int}/tree.svg", "viewer", file, query=("edges",)),
)
