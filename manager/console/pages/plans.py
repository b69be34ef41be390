"""Plans: a preview of who would own what and what it costs; applied when somebody says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from starlette.responses import Response

from manager.console import figures
from manager.console.access import Page
from manager.console.csv_export import Cell, csv_response
from manager.console.listing import Listing, read_listing
from manager.console.pages.bars import cost_bars
from manager.console.pages.methods import METHOD_WORDS
from manager.console.visit import Question, Visit
from manager.db.plans import PlanRow
from manager.operations.applying import apply_plan, undo_plan, undoable
from manager.operations.plans import Move, list_plans, make_plan, plan_detail

__all__ = ["PAGES"]

HERE: Final = "/console/plans"
PLANS_MOST: Final = 1000
ROWS_AT_ONCE: Final = 1000

KEYS: Final[dict[str, Callable[[PlanRow], Any]]] = {
    "number": lambda row: row.id,
    "method": lambda row: row.method,
    "made": lambda row: row.made_ms,
    "applied": lambda row: row.applied_ms,
    "units": lambda row: row.units,
    "moves": lambda row: row.moves,
    "before": lambda row: row.before_ms,
    "makespan": lambda row: row.makespan_ms,
    "bound": lambda row: row.bound_ms,
}

HEADER: Final = (
    "plan",
    "method",
    "round",
    "made by",
    "made (UTC)",
    "applied (UTC)",
    "units",
    "moves",
    "makespan before (ms)",
    "makespan after (ms)",
    "lower bound (ms)",
)
MOVES_HEADER: Final = ("unit", "from", "to", "saves (ms)", "costs (ms)")


def _listing(visit: Visit) -> Listing:
    return read_listing(
        HERE,
        visit.query,
        filters=("method", "applied"),
        sorts=tuple(KEYS),
        default_sort="-number",
    )


def _rows(visit: Visit, listing: Listing) -> list[PlanRow]:
    method, applied = listing.filters["method"], listing.filters["applied"]
    rows = [
        row
        for row in list_plans(visit.db, PLANS_MOST)
        if method in ("", row.method)
        and applied in ("", "yes" if row.applied_ms is not None else "no")
    ]
    return listing.sorted(rows, KEYS)


def show(visit: Visit) -> Response:
    """Show all plans."""
    listing = _listing(visit)
    cut = listing.cut(_rows(visit, listing))
    return visit.page("plans.html", listing=listing, cut=cut, methods=METHOD_WORDS)


def export(visit: Visit) -> Response:
    """Send the same rows as CSV."""
    return csv_response("plans", HEADER, (_cells(row) for row in _rows(visit, _listing(visit))))


def _cells(row: PlanRow) -> list[Cell]:
    return [
        row.id,
        row.method,
        row.round or None,
        row.made_by,
        figures.iso(row.made_ms),
        None if row.applied_ms is None else figures.iso(row.applied_ms),
        row.units,
        row.moves,
        row.before_ms,
        row.makespan_ms,
        row.bound_ms,
    ]


def make(visit: Visit) -> Response:
    """Make a plan and show it; nothing moves."""
    number = make_plan(
        visit.db,
        visit.form.get("method", ""),
        visit.actor,
        visit.now_ms,
        policy=visit.policy,
        planner=visit.door.planner,
        compare=True,
    )
    return visit.go(f"{HERE}/{number}", done="This is a preview: nothing was moved.")


def _moves_listing(visit: Visit, number: int) -> Listing:
    return read_listing(
        f"{HERE}/{number}", visit.query, filters=(), sorts=("gain",), default_sort="gain"
    )


def show_plan(visit: Visit) -> Response:
    """Show a plan: the makespan before and after, the bars, the moves."""
    number = visit.number
    listing = _moves_listing(visit, number)
    start = (listing.page - 1) * listing.size
    detail = plan_detail(visit.db, number, limit=listing.size, offset=start)
    return visit.page(
        "plan.html",
        detail=detail,
        plan=detail.plan,
        bars=cost_bars(detail.agents, detail.plan.bound_ms),
        listing=listing,
        first=start + 1 if detail.moves else 0,
        last=start + len(detail.moves),
        methods=METHOD_WORDS,
        can_undo=visit.may("operator") and undoable(visit.db) == number,
    )


def export_moves(visit: Visit) -> Response:
    """Send all moves of a plan as CSV."""
    number = visit.number
    first = plan_detail(visit.db, number, limit=ROWS_AT_ONCE).moves
    return csv_response(f"plan-{number}", MOVES_HEADER, _move_cells(visit, number, first))


def _move_cells(visit: Visit, number: int, first: list[Move]) -> Iterator[list[Cell]]:
    moves, offset = first, 0
    while moves:
        for move in moves:
            yield [move.unit, move.giver, move.taker, move.giver_ms, move.taker_ms]
        if len(moves) < ROWS_AT_ONCE:
            return
        offset += ROWS_AT_ONCE
        moves = plan_detail(visit.db, number, limit=ROWS_AT_ONCE, offset=offset).moves


def apply(visit: Visit) -> Response:
    """Carry a plan out; ask once."""
    number = visit.number
    here = f"{HERE}/{number}"
    if not visit.is_confirmed:
        plan = plan_detail(visit.db, number, limit=1).plan
        return visit.ask(
            Question(
                f"Apply plan {number}?",
                (
                    f"{plan.moves:,} of {plan.units:,} units get another owner.",
                    f"The makespan is expected to become {figures.duration(plan.makespan_ms)}.",
                    "Who fetches a unit now goes on until it has taken a list without it.",
                ),
                "Apply",
                f"{here}/apply",
                here,
                danger=False,
            )
        )
    moved = apply_plan(visit.db, number, visit.actor, visit.now_ms)
    return visit.go(here, done=f"Plan {number} is applied: {moved:,} units changed hands.")


def undo(visit: Visit) -> Response:
    """Take the last applied plan back; ask once."""
    last = undoable(visit.db)
    if last is not None and not visit.is_confirmed:
        plan = plan_detail(visit.db, last, limit=1).plan
        return visit.ask(
            Question(
                f"Take plan {last} back?",
                (
                    f"Of {plan.moves:,} units those that had an owner before go back to it.",
                    "Who fetches a unit now goes on until it has taken a list without it.",
                ),
                "Take back",
                f"{HERE}/undo",
                f"{HERE}/{last}",
                danger=False,
            )
        )
    number = undo_plan(visit.db, visit.actor, visit.now_ms)
    return visit.go(f"{HERE}/{number}", done=f"Plan {last} is taken back by this one.")


PAGES: Final = (
    Page("GET", "/plans", "viewer", show),
    Page("GET", "/plans.csv", "viewer", export),
    Page("POST", "/plans", "operator", make),
    Page("POST", "/plans/undo", "operator", undo),
    Page("GET", "/plans/{number:int}", "viewer", show_plan),
    Page("GET", "/plans/{number:int}.csv", "viewer", export_moves),
    Page("POST", "/plans/{number:int}/apply", "operator", apply),
)
