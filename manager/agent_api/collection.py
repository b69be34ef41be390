"""How far agents are with what they were asked to send."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Depends

from manager.agent_api.door import Agent, AgentDoor, door_of
from manager.operations.collecting import report_order
from shared.wire.sync import OrderReport

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1/collection", tags=["agents' own"])
Door = Annotated[AgentDoor, Depends(door_of)]


@router.post("/orders/{number}", status_code=204)
async def report(door: Door, agent: Agent, number: int, said: OrderReport) -> None:
    """Take note of how far an order is; a repeat, and a report of one that is over, do no harm."""
    await asyncio.to_thread(report_order, door.db, agent, number, said, door.now_ms())
