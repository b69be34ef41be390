"""The settings of the manager's file, as they hold now; secrets are not shown."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from manager.api.access import Door, Viewer
from manager.settings import SettingLine, setting_lines

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1", tags=["settings"])


@router.get("/settings")
async def settings(door: Door, _: Viewer) -> list[SettingLine]:
    """Show all settings with default, range, meaning, and where each was said."""
    return setting_lines(door.settings)
