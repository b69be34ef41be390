"""Plans: make one, look at it, apply it, take the last one back."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query
from pydantic import BaseModel, Field

from manager.api.access import Operator, Services, Viewer
from manager.api.rounds.rounds import Method, Moves, Offset, Seed, Sort
from manager.api.routes import Limit, subject_router
from manager.balancing.balancers import Objective
from manager.operations.planning import plan_application, plan_changes, plan_list, plan_tree, plans
from manager.operations.planning.plan_changes import Change
from manager.operations.planning.plan_list import PlanFilter, PlanPage
from manager.operations.planning.plan_tree import PlanTree
from manager.operations.planning.plans import PlanDetail

__all__ = ["router"]

router: Final = subject_router("plans")


class NewPlan(BaseModel):
    """Options of a plan from present knowledge. compare: try the other methods, too.

    moves: share of the placed units that it may move; none: the policy's. objective: what `default`
    makes small, the end of the crawl or the greatest transfer cost; none: the policy's.
    """

    method: Method = "default"
    seed: Seed = 0
    moves: Moves = None
    objective: Objective | None = None
    compare: bool = True


class Decided(BaseModel):
    """Standing plan at the time of the decision; refused where another one was applied since."""

    standing: Annotated[
        int | None,
        Field(ge=0, description="the plan that was applied last, 0: none; absent: do not ask"),
    ] = None


class Applied(BaseModel):
    """moved: units that changed hands; 0 where the plan was applied before."""

    moved: int


@router.get("/plans")
def list_plans(
    services: Services,
    _: Viewer,
    method: str = "",
    applied: bool | None = None,
    sort: Sort = "-number",
    limit: Limit = 50,
    offset: Offset = 0,
) -> PlanPage:
    """List the plans that match, the newest first, a page at a time; `total` says how many."""
    return plan_list.plan_page(
        services.db, PlanFilter(method, applied), sort=sort, limit=limit, offset=offset
    )


@router.post("/plans", status_code=201)
def make_plan(services: Services, actor: Operator, asked: NewPlan) -> PlanDetail:
    """Make a plan; nothing moves until it is applied."""
    number = plans.make_plan(
        services.db,
        asked.method,
        actor,
        services.now_ms(),
        seed=asked.seed,
        moves=asked.moves,
        objective=asked.objective,
        policy=services.policy,
        planner=services.planner,
        compare=asked.compare,
    )
    return plans.plan_detail(services.db, number)


@router.get("/plans/{number:int}")
def plan_detail(
    services: Services,
    _: Viewer,
    number: int,
    agent: Annotated[str, Query(description="moves that this agent gives or takes")] = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> PlanDetail:
    """Show a plan and a page of its moves, those that save most first; `moving` says how many."""
    return plans.plan_detail(services.db, number, agent=agent, limit=limit, offset=offset)


@router.get("/plans/{number}/tree")
def tree(services: Services, _: Viewer, number: int) -> PlanTree:
    """Show the spanning tree of a plan's agents with Give and Move, and who gives what to whom."""
    return plan_tree.plan_tree(services.db, number)


@router.get("/plans/{number}/changes")
def changes(services: Services, _: Viewer, number: int) -> list[Change]:
    """Show changes since a plan was made; none for an applied one."""
    return plan_changes.changes_since(services.db, number)


@router.post("/plans/{number}/apply")
def apply_plan(
    services: Services, actor: Operator, number: int, decided: Decided | None = None
) -> Applied:
    """Carry a plan out, where nothing that it needs has changed since it was made."""
    standing = decided.standing if decided is not None else None
    moved = plan_application.apply_plan(
        services.db, number, actor, services.now_ms(), standing=standing
    )
    return Applied(moved=moved)


@router.post("/plans/undo", status_code=201)
def undo_plan(services: Services, actor: Operator, decided: Decided | None = None) -> PlanDetail:
    """Undo the moves of the last applied plan; the answer is the plan that does."""
    standing = decided.standing if decided is not None else None
    number = plan_application.undo_plan(services.db, actor, services.now_ms(), standing=standing)
    return plans.plan_detail(services.db, number)
