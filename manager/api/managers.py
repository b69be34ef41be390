"""The managers that serve this database."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import APIRouter

from manager.api.access import Admin, Door, Viewer
from manager.operations.identity.managers import Managers, forget_manager, list_managers

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1", tags=["managers"])


@router.get("/managers")
async def managers(door: Door, _: Viewer) -> Managers:
    """Show the managers, and which of them leads."""
    return await asyncio.to_thread(list_managers, door.db)


@router.post("/managers/{name}/forget", status_code=204)
async def forget(door: Door, actor: Admin, name: str) -> None:
    """Forget a manager that was removed permanently; refused while the manager serves."""
    await asyncio.to_thread(forget_manager, door.db, name, actor, door.now_ms())
