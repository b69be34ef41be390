"""Rounds: start, look, cancel, report; schedules by which they begin."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from manager.api.door import Door, Operator, Viewer
from manager.api.schedules import add_schedule_routes
from manager.db.schedules import RoundSchedule
from manager.operations import round_history, round_report, round_schedules, rounds
from manager.operations.round_history import PastRound
from manager.operations.round_report import RoundReport
from manager.operations.rounds import RoundDetail, RoundRow
from manager.operations.timetables import Scheduled

__all__ = ["Limit", "Method", "Seed", "router"]

router: Final = APIRouter(prefix="/api/v1", tags=["rounds"])
Method = Literal["default", "random", "keep", "tree", "exchange", "prices", "lp"]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Limit = Annotated[int, Field(ge=1, le=1000)]


Moves = Annotated[float | None, Field(ge=0, le=1)]


class NewRound(BaseModel):
    """How the units of a round are given out. probe: measure first what is not known freshly.

    moves: share of the placed units that its plan may move; none: the policy's.
    """

    method: Method = "default"
    probe: bool = True
    seed: Seed = 0
    moves: Moves = None


class NewSchedule(BaseModel):
    """crontab: five fields as cron reads them, or @daily and the like; in the time zone."""

    crontab: Annotated[str, Field(max_length=200)]
    zone: Annotated[str, Field(max_length=64)] = "UTC"
    method: Method = "default"
    probe: bool = True
    moves: Moves = None


class Cancel(BaseModel):
    """Why a round is cancelled, for the audit. round: refused where another one goes on by now."""

    round: int | None = None
    reason: Annotated[str, Field(max_length=500)] = ""


@router.get("/rounds")
async def list_rounds(door: Door, _: Viewer, limit: Limit = 50) -> list[RoundRow]:
    """List rounds, newest first."""
    return await asyncio.to_thread(rounds.list_rounds, door.db, limit)


@router.get("/rounds/history")
async def history(door: Door, _: Viewer, limit: Limit = 60) -> list[PastRound]:
    """Lay rounds side by side, oldest first: planned, at best possible, measured."""
    return await asyncio.to_thread(round_history.past_rounds, door.db, limit)


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
            moves=asked.moves,
            policy=door.policy,
        )
        return rounds.round_detail(door.db, number)

    return await asyncio.to_thread(start)


@router.post("/rounds/cancel")
async def cancel_round(door: Door, actor: Operator, asked: Cancel) -> RoundDetail:
    """Cancel the round that goes on."""

    def cancel() -> RoundDetail:
        number = rounds.cancel_round(door.db, actor, door.now_ms(), asked.reason, meant=asked.round)
        return rounds.round_detail(door.db, number)

    return await asyncio.to_thread(cancel)


@router.post("/rounds/schedules", status_code=201)
async def add_schedule(door: Door, actor: Operator, asked: NewSchedule) -> Scheduled[RoundSchedule]:
    """Let rounds begin by the clock."""
    return await asyncio.to_thread(
        round_schedules.add_schedule,
        door.db,
        asked.crontab,
        asked.zone,
        asked.method,
        actor,
        door.now_ms(),
        probe=asked.probe,
        moves=asked.moves,
    )


add_schedule_routes(
    router, "/rounds/schedules", round_schedules.TIMETABLE, Scheduled[RoundSchedule]
)


@router.get("/rounds/{number}/report")
async def round_report_of(door: Door, _: Viewer, number: int) -> RoundReport:
    """Say what a round was planned to cost, what was measured, and how far they are apart."""
    return await asyncio.to_thread(round_report.round_report, door.db, number)


@router.get("/rounds/{number}")
async def round_detail(door: Door, _: Viewer, number: int) -> RoundDetail:
    """Show a round and its progress."""
    return await asyncio.to_thread(rounds.round_detail, door.db, number)
