"""Rounds and plans: start, look, cancel; make, look, apply."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from manager.api.door import Door, Operator, Viewer
from manager.db.plans import PlanRow
from manager.operations import plans, rounds
from manager.operations.plans import PlanDetail
from manager.operations.rounds import RoundDetail, RoundRow

__all__ = ["router"]

router: Final = APIRouter(tags=["rounds and plans"])
Method = Literal["random", "keep", "tree", "prices"]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Limit = Annotated[int, Field(ge=1, le=1000)]


class NewRound(BaseModel):
    """How the units of a round are given out. probe: measure first what is not known freshly."""

    method: Method = "prices"
    probe: bool = True
    seed: Seed = 0


class NewPlan(BaseModel):
    """How units would be given out, from what is known now."""

    method: Method = "prices"
    seed: Seed = 0


class Cancel(BaseModel):
    """Why a round is cancelled, for the audit."""

    reason: Annotated[str, Field(max_length=500)] = ""


class Applied(BaseModel):
    """moved: units that changed hands; 0 where the plan was applied before."""

    moved: int


@router.get("/rounds")
async def list_rounds(door: Door, _: Viewer, limit: Limit = 50) -> list[RoundRow]:
    """List rounds, newest first."""
    return await asyncio.to_thread(rounds.list_rounds, door.db, limit)


@router.post("/rounds", status_code=201)
async def start_round(door: Door, actor: Operator, asked: NewRound) -> RoundDetail:
    """Start a round."""

    def start() -> RoundDetail:
        number = rounds.start_round(
            door.db,
            asked.method,
            actor,
            door.now_ms(),
            probe=asked.probe,
            seed=asked.seed,
            policy=door.policy,
        )
        return rounds.round_detail(door.db, number)

    return await asyncio.to_thread(start)


@router.post("/rounds/cancel")
async def cancel_round(door: Door, actor: Operator, asked: Cancel) -> RoundDetail:
    """Cancel the round that goes on."""

    def cancel() -> RoundDetail:
        number = rounds.cancel_round(door.db, actor, door.now_ms(), asked.reason)
        return rounds.round_detail(door.db, number)

    return await asyncio.to_thread(cancel)


@router.get("/rounds/{number}")
async def round_detail(door: Door, _: Viewer, number: int) -> RoundDetail:
    """Show a round and its progress."""
    return await asyncio.to_thread(rounds.round_detail, door.db, number)


@router.get("/plans")
async def list_plans(door: Door, _: Viewer, limit: Limit = 50) -> list[PlanRow]:
    """List plans, newest first."""
    return await asyncio.to_thread(plans.list_plans, door.db, limit)


@router.post("/plans", status_code=201)
async def make_plan(door: Door, actor: Operator, asked: NewPlan) -> PlanDetail:
    """Make a plan; nothing moves until it is applied."""

    def make() -> PlanDetail:
        number = plans.make_plan(
            door.db,
            asked.method,
            actor,
            door.now_ms(),
            seed=asked.seed,
            policy=door.policy,
            planner=door.planner,
        )
        return plans.plan_detail(door.db, number)

    return await asyncio.to_thread(make)


@router.get("/plans/{number}")
async def plan_detail(
    door: Door,
    _: Viewer,
    number: int,
    limit: Limit = 100,
    offset: Annotated[int, Field(ge=0)] = 0,
) -> PlanDetail:
    """Show a plan and a page of its moves, those that save most first."""
    return await asyncio.to_thread(plans.plan_detail, door.db, number, limit=limit, offset=offset)


@router.post("/plans/{number}/apply")
async def apply_plan(door: Door, actor: Operator, number: int) -> Applied:
    """Carry a plan out, where nothing changed since it was made."""
    moved = await asyncio.to_thread(plans.apply_plan, door.db, number, actor, door.now_ms())
    return Applied(moved=moved)
