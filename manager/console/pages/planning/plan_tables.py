"""Tables of plans: the list, moves, costs, other methods, transfers between agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from manager.balancing.balancers import Compared
from manager.console.language import lazy
from manager.console.listing import Listing
from manager.console.pages.planning.cost_bars import CostBar, cost_bars
from manager.console.pages.planning.plan_words import METHOD_WORDS
from manager.console.requests.visit import Visit
from manager.console.tables.filters import Filter
from manager.console.tables.kinds import (
    AGENT,
    DRAWN,
    DURATION,
    FLAG,
    HOST,
    ID,
    MOMENT,
    NUMBER,
    SENTENCE,
    WORD,
)
from manager.console.tables.sources import InMemory, InSql, OwnPage
from manager.console.tables.table import Column, Table
from manager.db.planning.plans import PlanHead
from manager.operations.planning.plan_list import PlanFilter, every_plan, plan_page
from manager.operations.planning.plan_moves import Move, every_move
from manager.operations.planning.plan_tree import Flow, plan_tree
from manager.operations.planning.plans import plan_detail

__all__ = ["COSTS", "FLOWS", "METHODS", "MOVES", "PAGES", "PLANS"]


def _filter(listing: Listing) -> PlanFilter:
    applied = listing.filters["applied"]
    return PlanFilter(listing.filters["method"], applied == "yes" if applied else None)


def _page(
    visit: Visit, listing: Listing, limit: int, offset: int
) -> tuple[int, Sequence[PlanHead]]:
    found = plan_page(visit.db, _filter(listing), sort=listing.sort, limit=limit, offset=offset)
    return found.total, found.plans


PLANS: Final[Table[PlanHead]] = Table(
    "/plans",
    "Plans",
    InSql(_page, lambda visit, one: every_plan(visit.db, _filter(one), sort=one.sort)),
    (
        Column("plan", lambda row: row.id, lazy("Plan"), ID, sort="number", style="numbered"),
        Column("method", lambda row: row.method, lazy("Method"), WORD, sort=True),
        Column("round", lambda row: row.round or None, kind=ID),
        Column("made_by", lambda row: row.made_by),
        Column("made", lambda row: row.made_ms, lazy("Made"), MOMENT, sort=True),
        Column("applied", lambda row: row.applied_ms, lazy("Applied"), MOMENT, sort=True),
        Column("units", lambda row: row.units, lazy("Units"), NUMBER, sort=True),
        Column("moves", lambda row: row.moves, lazy("Moves"), NUMBER, sort=True),
        Column(
            "makespan_before",
            lambda row: row.before_ms,
            lazy("Makespan before"),
            DURATION,
            sort="before",
        ),
        Column(
            "makespan_after",
            lambda row: row.makespan_ms,
            lazy("Makespan after"),
            DURATION,
            sort="makespan",
        ),
        Column(
            "lower_bound", lambda row: row.bound_ms, lazy("Lower bound"), DURATION, sort="bound"
        ),
    ),
    filters=(
        Filter("method", lazy("Method"), "words", tuple(METHOD_WORDS)),
        Filter("applied", lazy("Applied"), "words", ("yes", "no")),
    ),
    default_sort="-number",
)


def _moves(visit: Visit, listing: Listing) -> Iterable[Move]:
    return every_move(visit.db, visit.number, agent=listing.filters["agent"].lower())


MOVES: Final[Table[Move]] = Table(
    "/plans/{number:int}",
    "Moves of a plan, the largest gain first",
    OwnPage(_moves),
    (
        Column("unit", lambda move: move.unit, lazy("Unit"), HOST),
        Column("from", lambda move: move.giver, lazy("From")),
        Column("to", lambda move: move.taker, lazy("To")),
        Column("saves", lambda move: move.giver_ms, lazy("Saves"), DURATION),
        Column("costs", lambda move: move.taker_ms, lazy("Costs"), DURATION),
        Column("gain", None, lazy("Gain"), DURATION),
    ),
    filters=(Filter("agent", kind="own", about="agent that gives or takes"),),
    default_sort="gain",
    files="plan-{number}",
)


def _costs(visit: Visit) -> list[CostBar]:
    return cost_bars(plan_detail(visit.db, visit.number, limit=1).agents, None, None).bars


COSTS: Final[Table[CostBar]] = Table(
    "/plans/{number:int}/costs",
    "Cost of each agent before and after a plan, the costliest first",
    InMemory(_costs),
    (
        Column("agent", lambda one: one.name, lazy("Agent"), AGENT),
        Column("drawn", None, lazy("Drawn"), DRAWN),
        Column("before", lambda one: one.before_ms, lazy("Before"), DURATION),
        Column("after", lambda one: one.after_ms, lazy("After"), DURATION),
        Column("units_before", lambda one: one.units_before, kind=NUMBER),
        Column("units_after", lambda one: one.units_after, kind=NUMBER),
        Column("capacity", lambda one: one.capacity, file="capacity beside the strongest"),
        Column("units", None, lazy("Units"), NUMBER),
        Column(
            "takes",
            lambda one: "for ever" if one.elapsed_ms is None else one.elapsed_ms,
            lazy("In wall-clock time"),
            DURATION,
            tip=lazy("Predicted: waiting, connections and transfer, in its hours"),
        ),
    ),
    files="plan-{number}-costs",
)
METHODS: Final[Table[Compared]] = Table(
    "/plans/{number:int}/methods",
    "Results of other methods than that of a plan",
    InMemory(lambda visit: plan_detail(visit.db, visit.number, limit=1).compared),
    (
        Column("method", lambda one: one.method, lazy("Method"), WORD),
        Column("makespan", lambda one: one.makespan_ms, lazy("Makespan"), DURATION),
        Column(
            "above_bound",
            lambda one: one.above_bound,
            lazy("Above the bound"),
            NUMBER,
            "makespan / lower bound",
        ),
        Column("end", lambda one: one.end_ms, lazy("End of the crawl"), DURATION),
        Column("network", lambda one: one.network_ms, lazy("Network cost"), DURATION),
        Column("moves", lambda one: one.moves, lazy("Moves"), NUMBER),
        Column("why_not", lambda one: one.why, kind=SENTENCE),
    ),
    files="plan-{number}-methods",
)


def _flows(visit: Visit) -> list[Flow]:
    apart = visit.query.get("neighbours") == "no"
    flows = plan_tree(visit.db, visit.number).flows
    return [flow for flow in flows if not (apart and flow.neighbours)]


FLOWS: Final[Table[Flow]] = Table(
    "/plans/{number:int}/flows",
    "Transfers between agents by a plan, the most units first",
    InMemory(_flows),
    (
        Column("from", lambda flow: flow.giver, lazy("From"), style="numbered"),
        Column("to", lambda flow: flow.taker, lazy("To")),
        Column(
            "neighbours",
            lambda flow: flow.neighbours,
            kind=FLAG,
            about="whether an edge of the tree joins them; parameter no: only those without",
        ),
        Column("units", lambda flow: flow.units, lazy("Units"), NUMBER),
        Column("saves", lambda flow: flow.giver_ms, lazy("Saves"), DURATION),
        Column("costs", lambda flow: flow.taker_ms, lazy("Costs"), DURATION),
    ),
    parameters=("neighbours",),
    files="plan-{number}-flows",
)
PAGES: Final = (*COSTS.file_pages(), *METHODS.file_pages(), *FLOWS.file_pages())
