"""The tables of a plan's page, whole and as CSV: costs, other methods, who gives what to whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from manager.console.csv_export import Cell, csv_response
from manager.console.pages.planning.cost_bars import costliest_first
from manager.console.requests.access import Page
from manager.console.requests.visit import Visit
from manager.operations.planning.plan_tree import plan_tree
from manager.operations.planning.plans import plan_detail

__all__ = ["PAGES"]

COSTS_HEADER: Final = (
    "agent",
    "before (ms)",
    "after (ms)",
    "units before",
    "units after",
    "capacity beside the strongest",
    "takes (ms)",
)
METHODS_HEADER: Final = (
    "method",
    "makespan (ms)",
    "makespan / lower bound",
    "moves",
    "why not",
)
FLOWS_HEADER: Final = (
    "from",
    "to",
    "neighbours",
    "units",
    "saves (ms)",
    "costs (ms)",
)


def export_costs(visit: Visit) -> Response:
    """Send the cost of each agent before and after a plan as CSV."""
    detail = plan_detail(visit.db, visit.number, limit=1)
    rows = map(_cost, costliest_first(detail.agents))
    return csv_response(f"plan-{visit.number}-costs", COSTS_HEADER, rows)


def _cost(agent: Mapping[str, Any]) -> list[Cell]:
    took_ms = agent.get("elapsed_ms", "")
    return [
        agent["name"],
        agent["before_ms"],
        agent["after_ms"],
        agent["units_before"],
        agent["units_after"],
        agent.get("capacity", 1.0),
        "for ever" if took_ms is None else took_ms,
    ]


def export_methods(visit: Visit) -> Response:
    """Send what other methods would have given as CSV."""
    detail = plan_detail(visit.db, visit.number, limit=1)
    rows: list[list[Cell]] = [
        [one.method, one.makespan_ms, one.above_bound, one.moves, str(one.why or "")]
        for one in detail.compared
    ]
    return csv_response(f"plan-{visit.number}-methods", METHODS_HEADER, rows)


def export_flows(visit: Visit) -> Response:
    """Send what each agent gives to each other as CSV, the most first.

    neighbours = no: only between agents that no edge of the tree joins.
    """
    apart = visit.query.get("neighbours") == "no"
    rows: list[list[Cell]] = [
        [flow.giver, flow.taker, flow.neighbours, flow.units, flow.giver_ms, flow.taker_ms]
        for flow in plan_tree(visit.db, visit.number).flows
        if not (apart and flow.neighbours)
    ]
    return csv_response(f"plan-{visit.number}-flows", FLOWS_HEADER, rows)


PAGES: Final = (
    Page("GET", "/plans/{number:int}/costs.csv", "viewer", export_costs),
    Page("GET", "/plans/{number:int}/methods.csv", "viewer", export_methods),
    Page("GET", "/plans/{number:int}/flows.csv", "viewer", export_flows, query=("neighbours",)),
)
