"""What administrators were told of, and quiet for maintenance."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter
from pydantic import BaseModel, Field

from manager.api.door import Door, Operator, Viewer
from manager.operations.alerting import Told, list_told, tell_nobody

__all__ = ["router"]

router: Final = APIRouter(tags=["alerts"])


class Quiet(BaseModel):
    """A maintenance window from now on."""

    seconds: Annotated[float, Field(ge=0, le=30 * 86_400)]
    reason: Annotated[str, Field(max_length=500)] = ""


@router.get("/alerts")
async def alerts(door: Door, _: Viewer) -> Told:
    """Show the troubles that go on, as far as somebody was told of them."""
    return await asyncio.to_thread(list_told, door.db)


@router.post("/alerts/quiet")
async def quiet(door: Door, actor: Operator, asked: Quiet) -> Told:
    """Tell nobody for so long; 0 seconds end that. What still is so then, is told then."""
    now_ms = door.now_ms()
    until_ms = now_ms + round(asked.seconds * 1000) if asked.seconds else 0
    await asyncio.to_thread(tell_nobody, door.db, until_ms, asked.reason, actor, now_ms)
    return await asyncio.to_thread(list_told, door.db)
