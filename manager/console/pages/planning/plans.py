"""Plans: previews of owners and costs; a person applies them, and undoes the last one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from manager.console import figures
from manager.console.drawings.agent_bars import Pair, draw_bars
from manager.console.drawings.drawing import svg_download
from manager.console.language import _, ngettext
from manager.console.messages.sentences import actor
from manager.console.pages.planning.cost_bars import cost_bars
from manager.console.pages.planning.plan_tables import COSTS, METHODS, MOVES, PLANS
from manager.console.pages.planning.plan_words import METHOD_WORDS, change_words
from manager.console.pages.planning.spanning_tree import shown_tree
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, share, whole_number
from manager.db.planning.plans import PlanHead, PlanRow
from manager.errors import StalePlanError
from manager.operations.people.audit_log import audit_page
from manager.operations.planning.plan_application import (
    MOVES_SHOWN,
    UndoPreview,
    apply_plan,
    undo_plan,
    undo_preview,
    undoable,
)
from manager.operations.planning.plan_changes import Change, changes_since
from manager.operations.planning.plans import make_plan, plan_detail

__all__ = ["PAGES"]

HERE: Final = "/console/plans"
MOVES_COMPARED: Final = 20_000


def make(visit: Visit) -> Response:
    """Make a plan and show it; nothing moves."""
    number = make_plan(
        visit.db,
        visit.form.get("method", ""),
        visit.actor,
        visit.now_ms,
        moves=share(visit, "moves"),
        policy=visit.policy,
        planner=visit.services.planner,
        compare=True,
    )
    return visit.go(f"{HERE}/{number}", done=_("This is a preview: nothing was moved."))


def show_plan(visit: Visit) -> Response:
    """Show a plan: the makespan before and after, the bars, the moves, all or those of an agent."""
    number = visit.number
    listing = MOVES.listing(visit)
    start = (listing.page - 1) * listing.size
    agent = listing.filters["agent"].lower()
    detail = plan_detail(visit.db, number, agent=agent, limit=listing.size, offset=start)
    bars = cost_bars(detail.agents, detail.plan.bound_ms)
    return visit.page(
        "plan.html",
        detail=detail,
        plan=detail.plan,
        bars=bars,
        costs=COSTS.part(visit, bars.bars),
        compared=METHODS.part(visit, detail.compared),
        list=MOVES.page(visit, listing, listing.slice(detail.moves, detail.moving)),
        agents=sorted({one["name"] for one in detail.agents} | ({agent} if agent else set())),
        methods=METHOD_WORDS,
        undoing=_undo_preview(visit, number),
        changes=_changes(visit, detail.plan),
        change_words=change_words,
        tree=shown_tree(visit, number),
        costs_file=f"{HERE}/{number}/costs.svg",
    )


def _undo_preview(visit: Visit, number: int) -> UndoPreview | None:
    """Return what taking this plan back would do, where it is the one that was applied last."""
    preview = undo_preview(visit.db) if undoable(visit.db) == number else None
    return preview if visit.may("operator") else None


def _changes(visit: Visit, plan: PlanRow) -> list[Change]:
    """Return what changed since a preview was made, where that is soon found out.

    Of a plan that places everything it is only asked when it is to be applied.
    """
    return changes_since(visit.db, plan.id) if plan.moves <= MOVES_COMPARED else []


def costs_file(visit: Visit) -> Response:
    """Send the cost of each agent before and after, drawn."""
    detail = plan_detail(visit.db, visit.number, limit=1)
    drawing = draw_bars(
        "costs",
        _("Plan %(number)s: cost of each agent before and after", number=detail.plan.id),
        (_("before"), _("after")),
        [
            Pair(one["name"], one["before_ms"], one["after_ms"])
            for one in sorted(detail.agents, key=lambda one: -float(one["after_ms"]))
        ],
        detail.plan.bound_ms,
    )
    return svg_download(drawing, f"plan-{detail.plan.id}-costs")


def apply(visit: Visit) -> Response:
    """Carry a plan out; ask once, and say what changed since it was made."""
    number = visit.number
    here = f"{HERE}/{number}"
    plan = plan_detail(visit.db, number, limit=1).plan
    if plan.applied_ms is not None:
        return visit.go(here, done=_applied_already(visit, plan))
    if not visit.is_confirmed:
        changes = changes_since(visit.db, number)
        if any(change.stops for change in changes):
            return stale_page(visit, plan, changes)
        stands = undoable(visit.db) or 0
        return visit.ask(
            _("Apply plan %(number)s?", number=number),
            ngettext(
                "%(num)s of %(units)s units gets another owner.",
                "%(num)s of %(units)s units get another owner.",
                plan.moves,
                units=figures.count(plan.units),
            ),
            _(
                "The expected makespan is %(time)s.",
                time=figures.duration(plan.makespan_ms),
            ),
            _(
                "The present agent continues to fetch a unit until it acknowledges a list "
                "without it."
            ),
            *(
                _("Changed since it was made: %(what)s", what=change_words(change))
                for change in changes
            ),
            button=_("Apply"),
            back=here,
            fields={"standing": str(stands)},
            danger=False,
        )
    try:
        moved = apply_plan(
            visit.db, number, visit.actor, visit.now_ms, standing=whole_number(visit, "standing")
        )
    except StalePlanError:
        return stale_page(visit, plan, changes_since(visit.db, number))
    if not moved and plan.moves:
        return visit.go(here, done=_applied_already(visit, plan))
    said = ngettext(
        "Plan %(plan)s is applied: %(num)s unit moved.",
        "Plan %(plan)s is applied: %(num)s units moved.",
        moved,
        plan=number,
    )
    return visit.go(here, done=said)


def _applied_already(visit: Visit, plan: PlanRow) -> str:
    """Return a sentence that names the first of two people who applied one plan."""
    rows = audit_page(visit.db, limit=1, action="plan.apply", subject=str(plan.id))
    if not rows:
        return _("Plan %(plan)s was already applied: nothing was done now.", plan=plan.id)
    return _(
        "%(who)s already applied plan %(plan)s %(when)s: nothing was done now.",
        who=actor(rows[0].actor_name),
        plan=plan.id,
        when=figures.ago(rows[0].at_ms, visit.now_ms),
    )


def undo(visit: Visit) -> Response:
    """Undo the plan that was applied last; ask once, and only that one."""
    asked, preview = whole_number(visit, "plan"), undo_preview(visit.db)
    meant = asked if asked is not None or preview is None else preview.plan.id
    if preview is not None and meant == preview.plan.id:
        if preview.changes:
            return stale_page(visit, preview.plan, preview.changes, undoes=True)
        if not visit.is_confirmed:
            return visit.page(
                "plan_undo.html",
                preview=preview,
                plan=preview.plan,
                moves=MOVES.part(visit, preview.moves, without=("gain",)),
                left=preview.moving - min(MOVES_SHOWN, preview.moving),
            )
    try:
        number = undo_plan(visit.db, visit.actor, visit.now_ms, standing=meant)
    except StalePlanError:
        preview = undo_preview(visit.db)
        if preview is None or not preview.changes:
            raise
        return stale_page(visit, preview.plan, preview.changes, undoes=True)
    return visit.go(
        f"{HERE}/{number}", done=_("Plan %(number)s is undone by this one.", number=meant)
    )


def stale_page(
    visit: Visit, plan: PlanRow | PlanHead, changes: Sequence[Change], *, undoes: bool = False
) -> Response:
    """Refuse a plan, or to take it back, and say why in words and figures; offer a new plan."""
    return visit.page(
        "plan_stale.html",
        status=409,
        number=plan.id,
        plan=plan,
        changes=changes,
        change_words=change_words,
        methods=METHOD_WORDS,
        undoes=undoes,
    )


PAGES: Final = (
    *PLANS.pages(lambda visit: visit.page("plans.html", list=PLANS.view(visit))),
    Page("POST", "/plans", "operator", make, form="/balance"),
    Page("POST", "/plans/undo", "operator", undo, form="/plans/{plan}"),
    *MOVES.pages(show_plan, "edges"),
    Page("GET", "/plans/{number:int}/costs.svg", "viewer", costs_file),
    Page("POST", "/plans/{number:int}/apply", "operator", apply, form="/plans/{number}"),
)
