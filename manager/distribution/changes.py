"""Routes of changes and of the capture index: `/api/v1/changes`, `/api/v1/index`."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import JSONResponse, Response

from manager.distribution.addresses import at_address
from manager.distribution.authentication import Caller, DistributionDoor, Door, caller_with
from manager.distribution.file_responses import FileToSend, SentFile
from manager.distribution.segments import AfterFile, segment_path
from manager.distribution.times import time_ms
from manager.operations.archive import archive_changes
from manager.operations.archive.archive_changes import Change
from manager.operations.archive.archive_files import (
    FileFilter,
    SegmentRow,
    is_public,
    list_files,
    public_file,
    take_file,
)
from shared.archive.record import warc_date

__all__ = ["router"]

router: Final = APIRouter(prefix="/api/v1", tags=["captures"])
Follower = Annotated[Caller, Depends(caller_with("changes"))]
Index = Annotated[Caller, Depends(caller_with("index"))]

PARQUET: Final = ".parquet"
CDXJ: Final = ".cdxj"
_DATE: Final = re.compile(r"[0-9]{4}(?:-[0-9]{2}.*)?")


@router.get("/changes", response_class=JSONResponse)
async def changes(
    request: Request,
    door: Door,
    _: Follower,
    since: Annotated[str, Query(max_length=80, description="a `next`, or a date")] = "",
    limit: Annotated[int, Query(ge=1, le=5000)] = 1000,
) -> JSONResponse:
    """List what happened to public segments behind a cursor; without one, give the present one.

    created: take it. deleted: delete what you have of it.
    """
    key = await asyncio.to_thread(archive_changes.cursor_key, door.layout.results.parent)
    if not since:
        cursor = await asyncio.to_thread(archive_changes.present_cursor, door.db, key)
        return JSONResponse({"changes": [], "next": cursor, "more": False})
    moment = time_ms("since", since) if _DATE.fullmatch(since) else None
    found = await asyncio.to_thread(
        archive_changes.changes_since, door.db, key, since, moment, limit
    )
    shown = [_change(request, door, each) for each in found.changes]
    return JSONResponse({"changes": shown, "next": found.next, "more": found.more})


def _change(request: Request, door: DistributionDoor, change: Change) -> dict[str, Any]:
    row = change.row
    said = {"seq": row.id, "at": warc_date(row.at_ms), "what": row.what, "name": row.name}
    segment = change.segment
    if segment is None or segment.state != "current":
        return said
    return {
        **said,
        "size": segment.size_bytes,
        "checksums": {"md5": segment.md5, "sha1": segment.sha1, "sha256": segment.sha256},
        "location": at_address(request, door, segment_path(segment.name)),
    }


@router.get("/index", response_class=JSONResponse)
async def indexes(
    request: Request,
    door: Door,
    _: Index,
    page: Annotated[int, Query(ge=1, le=10**9)] = 1,
    page_size: Annotated[int, Query(ge=1, le=2000)] = 1000,
    after_file: AfterFile = None,
) -> JSONResponse:
    """List the index of each public segment: Parquet, sorted by reversed host, URL and time.

    `next` leads on whatever is withdrawn meanwhile.
    """
    found = await asyncio.to_thread(
        list_files, door.db, FileFilter(), page_size, page=page, after_id=after_file
    )
    following = f"/api/v1/index?page={page + 1}&page_size={page_size}&after_file={found.next_id}"
    more = found.next_id is not None
    return JSONResponse(
        {
            "count": found.count,
            "next": at_address(request, door, following) if more else None,
            "files": [_index(request, door, row) for row in found.files],
        }
    )


def _index(request: Request, door: DistributionDoor, row: SegmentRow) -> dict[str, Any]:
    return {
        "name": row.name + PARQUET,
        "segment": row.name,
        "size": row.index_bytes,
        "checksums": {"sha256": row.index_sha256},
        "captures": row.captures,
        "location": at_address(request, door, f"/api/v1/index/{row.name}{PARQUET}"),
        "cdxj": at_address(request, door, f"/api/v1/index/{row.name}{CDXJ}"),
    }


@router.head("/index/{name}", include_in_schema=False)
@router.get("/index/{name}", response_class=Response)
async def index(request: Request, door: Door, caller: Index, name: str) -> Response:
    """Send the index of a segment: its name and `.parquet`, or `.cdxj`."""
    ending = CDXJ if name.endswith(CDXJ) else PARQUET
    segment = name.removesuffix(ending)
    again = request.method == "HEAD" or "range" in request.headers
    row = await (
        asyncio.to_thread(public_file, door.db, segment)
        if again
        else asyncio.to_thread(take_file, door.db, segment, "index", caller.actor, door.now_ms())
    )
    path = door.layout.index_file(row.key).with_suffix(ending)
    size_bytes = (await asyncio.to_thread(path.stat)).st_size
    front = door.settings.archive.x_accel_redirect_path
    return SentFile(
        FileToSend(
            name=name,
            media_type="application/vnd.apache.parquet" if ending == PARQUET else "text/x-cdxj",
            size_bytes=size_bytes,
            sha256=row.index_sha256 if ending == PARQUET else row.sha256,
            changed_ms=row.made_ms,
            open=lambda: path.open("rb"),
            is_given=lambda: is_public(door.db, row.name),
            front=f"{front.rstrip('/')}/index/{path.parent.name}/{path.name}" if front else None,
        ),
        caller,
    )
