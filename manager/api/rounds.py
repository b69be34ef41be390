"""Rounds: start, look, cancel."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from manager.api.door import Door, Operator, Viewer
from manager.operations import rounds
from manager.operations.rounds import RoundDetail, RoundRow

__all__ = ["Limit", "Method", "Seed", "router"]

router: Final = APIRouter(tags=["rounds"])
Method = Literal["default", "random", "keep", "tree", "exchange", "prices", "lp"]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Limit = Annotated[int, Field(ge=1, le=1000)]


class NewRound(BaseModel):
    """How the units of a round are given out. probe: measure first what is not known freshly."""

    method: Method = "default"
    probe: bool = True
    seed: Seed = 0


class Cancel(BaseModel):
    """Why a round is cancelled, for the audit."""

    reason: Annotated[str, Field(max_length=500)] = ""


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
