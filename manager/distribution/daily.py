"""The differences of single days, kept ready as files: `/api/v1/daily`."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Depends
from starlette.responses import Response

from manager.distribution.authentication import Caller, Door, caller_with
from manager.operations.archive.daily_files import daily_file, daily_files

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1/daily", tags=["captures"])
Follower = Annotated[Caller, Depends(caller_with("changes"))]


@router.get("")
async def days(door: Door, _: Follower) -> list[str]:
    """List the days that there are files of, newest first."""
    return await asyncio.to_thread(daily_files, door.layout.daily)


@router.get("/{day}", response_class=Response)
async def day_file(door: Door, _: Follower, day: str) -> Response:
    """Send the public segments that were entered on a day (UTC), a line of JSON each."""
    body = await asyncio.to_thread(daily_file, door.layout.daily, day)
    return Response(body, media_type="application/x-ndjson")
