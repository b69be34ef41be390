"""The archive, as administrators act on it."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import APIRouter
from pydantic import BaseModel

from manager.api.door import Admin, Door

__all__ = ["router"]

router: Final = APIRouter(prefix="/archive", tags=["archive"])


class Compacted(BaseModel):
    """How many segments were rewritten without excluded hosts, and of how many nothing was left."""

    rewritten: int
    deleted: int


@router.post("/compact")
async def compact(door: Door, actor: Admin) -> Compacted:
    """Rewrite what was withdrawn now, not at the next time of the clock; takes minutes."""
    rewritten, deleted = await asyncio.to_thread(door.compact, actor)
    return Compacted(rewritten=rewritten, deleted=deleted)
