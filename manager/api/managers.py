"""The managers that serve this database."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import APIRouter

from manager.api.door import Door, Viewer
from manager.operations.managers import Managers, list_managers

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1", tags=["managers"])


@router.get("/managers")
async def managers(door: Door, _: Viewer) -> Managers:
    """Show the managers, and which of them leads."""
    return await asyncio.to_thread(list_managers, door.db)
