"""Balance: is the cost even, who hands what to whom, and what a new plan would make of it.

The page shows one plan, the one that was applied last, or the newest; the others are one list
below. A plan's own page is `plans`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.drawings.drawing import Drawing, svg_download
from manager.console.drawings.series import Line, draw_series
from manager.console.language import _, lazy, pgettext
from manager.console.messages.disabled_reasons import unable_of
from manager.console.pages.planning.cost_bars import cost_bars
from manager.console.pages.planning.plan_tables import COSTS, PLANS
from manager.console.pages.planning.plan_words import METHOD_WORDS
from manager.console.pages.planning.spanning_tree import shown_tree
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit
from manager.console.tables.kinds import DURATION, ID, MOMENT, WORD
from manager.console.tables.sources import InMemory
from manager.console.tables.table import Column, Table
from manager.operations.hosts.preconditions import plan_obstacle
from manager.operations.planning.plan_application import undo_preview, undoable
from manager.operations.planning.plans import PlanDetail, list_plans, plan_detail
from manager.operations.rounds.round_list import PastRound, past_rounds
from manager.operations.rounds.rounds import current_round

__all__ = ["PAGES", "ROUNDS", "draw_rounds"]

PLANS_SHOWN: Final = 8
ROUNDS_SHOWN: Final = 60
ROUNDS_LISTED: Final = 12
ROWS_AT_ONCE: Final = 1000
SIZES: Final = ((3_600_000.0, "h"), (60_000.0, "min"), (1000.0, "s"), (1.0, "ms"))


def _rounds(visit: Visit) -> Iterator[PastRound]:
    """Yield all rounds, newest first."""
    before: int | None = None
    while past := past_rounds(visit.db, ROWS_AT_ONCE, before):
        yield from reversed(past)
        before = past[0].number


ROUNDS: Final[Table[PastRound]] = Table(
    "/balance/rounds",
    "Makespans of rounds, newest first",
    InMemory(_rounds),
    (
        Column("round", lambda one: one.number, lazy("Round"), ID, style="numbered"),
        Column("method", lambda one: one.method, lazy("Method"), WORD),
        Column("state", lambda one: one.state),
        Column("started", lambda one: one.started_ms, kind=MOMENT),
        Column("planned", lambda one: one.planned_ms, lazy("Planned"), DURATION),
        Column("lower_bound", lambda one: one.bound_ms, lazy("Lower bound"), DURATION),
        Column("measured", lambda one: one.measured_ms, lazy("Measured"), DURATION),
        Column("elapsed", lambda one: one.elapsed_ms, kind=DURATION),
    ),
    files="rounds-over-time",
)


def show(visit: Visit) -> Response:
    """Show the plan that stands, its tree, and rounds over time."""
    stands = undoable(visit.db)
    plans = list_plans(visit.db, PLANS_SHOWN)
    shown = _shown(visit, stands)
    past = past_rounds(visit.db, ROUNDS_SHOWN)
    bars = cost_bars(shown.agents, shown.plan.bound_ms) if shown is not None else None
    return visit.page(
        "balance.html",
        plans=PLANS.part(visit, plans, without=("made", "units", "makespan_before", "lower_bound")),
        stands=stands,
        unready=unable_of(plan_obstacle(visit.db)),
        undoing=undo_preview(visit.db) if stands is not None and visit.may("operator") else None,
        detail=shown,
        plan=shown.plan if shown is not None else None,
        bars=bars,
        costs=COSTS.part(visit, bars.bars if bars is not None else []),
        tree=shown_tree(visit, shown.plan.id) if shown is not None else None,
        past=ROUNDS.part(visit, past[::-1][:ROUNDS_LISTED]),
        past_cut=len(past) > ROUNDS_LISTED,
        series=draw_rounds(past) if past else None,
        current=current_round(visit.db),
        methods=METHOD_WORDS,
    )


def _shown(visit: Visit, stands: int | None) -> PlanDetail | None:
    """Return the plan to look at: the one that stands, or else the newest one."""
    if stands is not None:
        return plan_detail(visit.db, stands, limit=1)
    newest = list_plans(visit.db, 1)
    return plan_detail(visit.db, newest[0].id, limit=1) if newest else None


def draw_rounds(past: list[PastRound]) -> Drawing:
    """Return rounds over time: the makespan planned and measured, and the lower bound."""
    known = [one.measured_ms for one in past] + [one.planned_ms for one in past]
    greatest = max((number for number in known if number), default=0.0)
    size, unit = next((pair for pair in SIZES if greatest >= 2 * pair[0]), SIZES[-1])
    planned = [None if one.planned_ms is None else one.planned_ms / size for one in past]
    measured = [None if not one.measured_ms else one.measured_ms / size for one in past]
    bound = [None if one.bound_ms is None else one.bound_ms / size for one in past]
    newest = past[-1]
    return draw_series(
        "rounds-over-time",
        _("Makespan of the last rounds"),
        _(
            "The highest cost of an agent in each of %(number)s rounds; in round %(round)s "
            "planned %(planned)s, measured %(measured)s, lower bound %(bound)s.",
            number=len(past),
            round=newest.number,
            planned=figures.duration(newest.planned_ms),
            measured=figures.duration(newest.measured_ms),
            bound=figures.duration(newest.bound_ms),
        ),
        [str(one.number) for one in past],
        [
            Line(_("planned"), "calm", planned, wide=True),
            Line(_("measured"), "busy", measured),
            Line(_("lower bound"), "bad", bound, dash="4 3"),
        ],
        lambda number: f"{number:g} {pgettext('unit', unit)}",
    )


def rounds_file(visit: Visit) -> Response:
    """Send the drawing of the rounds over time."""
    past = past_rounds(visit.db, ROUNDS_SHOWN)
    if not past:
        return visit.go("/console/balance", refused=_("No round has started yet."))
    return svg_download(draw_rounds(past), "rounds")


PAGES: Final = (
    Page("GET", "/balance", "viewer", show, query=("edges",)),
    Page("GET", "/balance/rounds.svg", "viewer", rounds_file),
    *ROUNDS.file_pages(),
)
