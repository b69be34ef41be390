"""Undo of the plan that was applied last: what would move, asked about, and refused where stale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from manager.console.language import _
from manager.console.pages.planning.change_words import change_words
from manager.console.pages.planning.methods import METHOD_WORDS
from manager.console.pages.planning.plan_tables import MOVES
from manager.console.requests.page import Page
from manager.console.requests.visit import Visit, whole_number
from manager.db.planning.plans import PlanHead, PlanRow
from manager.errors import StalePlanError
from manager.operations.planning.plan_application import undo_plan
from manager.operations.planning.plan_changes import Change
from manager.operations.planning.plan_undo import MOVES_SHOWN, undo_preview

__all__ = ["PAGES", "stale_page"]

HERE: Final = "/console/plans"


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


PAGES: Final = (Page("POST", "/plans/undo", "operator", undo, form="/plans/{plan}"),)
