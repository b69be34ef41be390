"""The archive, as administrators act on it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel

from manager.api.door import Admin, Door, Viewer
from manager.operations.archive_mirrors import Mirror

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


@router.get("/mirrors")
async def mirrors(
    door: Door,
    _: Viewer,
    share: Annotated[float, Query(description="of the smaller host's pages, 0 to 1")] = 0.5,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
) -> list[Mirror]:
    """List pairs of hosts of which one shows what the other shows; reads all indexes."""
    return await asyncio.to_thread(door.mirrors, share, limit)
