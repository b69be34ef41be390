"""Routes of changes and of the capture index: `/api/v1/changes`, `/daily`, `/index`."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from starlette.responses import JSONResponse, Response

from manager.distribution.authentication import Caller, caller_with
from manager.distribution.file_responses import FileToSend, SentFile
from manager.distribution.segments import AfterFile, asked_file, segment_path
from manager.distribution.times import time_ms
from manager.operations.archive import archive_changes
from manager.operations.archive.archive_changes import Change
from manager.operations.archive.archive_files import (
    FileFilter,
    SegmentRow,
    is_public,
    list_files,
)
from manager.operations.archive.daily_files import daily_file, daily_files
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
    caller: Follower,
    since: Annotated[str, Query(max_length=80, description="a `next`, or a date")] = "",
    limit: Annotated[int, Query(ge=1, le=5000)] = 1000,
) -> JSONResponse:
    """List what happened to public segments behind a cursor; without one, give the present one.

    created: take it. deleted: delete what you have of it.
    """
    services = caller.services
    key = await asyncio.to_thread(archive_changes.cursor_key, services.layout.results.parent)
    if not since:
        cursor = await asyncio.to_thread(archive_changes.present_cursor, services.db, key)
        return JSONResponse({"changes": [], "next": cursor, "more": False})
    moment = time_ms("since", since) if _DATE.fullmatch(since) else None
    found = await asyncio.to_thread(
        archive_changes.changes_since, services.db, key, since, moment, limit
    )
    shown = [_change(caller, each) for each in found.changes]
    return JSONResponse({"changes": shown, "next": found.next, "more": found.more})


def _change(caller: Caller, change: Change) -> dict[str, Any]:
    row = change.row
    said = {"seq": row.id, "at": warc_date(row.at_ms), "what": row.what, "name": row.name}
    segment = change.segment
    if segment is None or segment.state != "current":
        return said
    return {
        **said,
        "size": segment.size_bytes,
        "checksums": {"md5": segment.md5, "sha1": segment.sha1, "sha256": segment.sha256},
        "location": caller.at_address(segment_path(segment.name)),
    }


@router.get("/daily")
async def days(caller: Follower) -> list[str]:
    """List the days that there are files of, newest first."""
    return await asyncio.to_thread(daily_files, caller.services.layout.daily)


@router.get("/daily/{day}", response_class=Response)
async def day_file(caller: Follower, day: str) -> Response:
    """Send the public segments that were entered on a day (UTC), a line of JSON each."""
    body = await asyncio.to_thread(daily_file, caller.services.layout.daily, day)
    return Response(body, media_type="application/x-ndjson")


@router.get("/index", response_class=JSONResponse)
async def indexes(
    caller: Index,
    page: Annotated[int, Query(ge=1, le=10**9)] = 1,
    page_size: Annotated[int, Query(ge=1, le=2000)] = 1000,
    after_file: AfterFile = None,
) -> JSONResponse:
    """List the index of each public segment: Parquet, sorted by reversed host, URL and time.

    `next` leads on whatever is withdrawn meanwhile.
    """
    found = await asyncio.to_thread(
        list_files, caller.services.db, FileFilter(), page_size, page=page, after_id=after_file
    )
    following = f"/api/v1/index?page={page + 1}&page_size={page_size}&after_file={found.next_id}"
    more = found.next_id is not None
    return JSONResponse(
        {
            "count": found.count,
            "next": caller.at_address(following) if more else None,
            "files": [_index(caller, row) for row in found.files],
        }
    )


def _index(caller: Caller, row: SegmentRow) -> dict[str, Any]:
    return {
        "name": row.name + PARQUET,
        "segment": row.name,
        "size": row.index_bytes,
        "checksums": {"sha256": row.index_sha256},
        "captures": row.captures,
        "location": caller.at_address(f"/api/v1/index/{row.name}{PARQUET}"),
        "cdxj": caller.at_address(f"/api/v1/index/{row.name}{CDXJ}"),
    }


@router.head("/index/{name}", include_in_schema=False)
@router.get("/index/{name}", response_class=Response)
async def index(caller: Index, name: str) -> Response:
    """Send the index of a segment: its name and `.parquet`, or `.cdxj`."""
    services = caller.services
    ending = CDXJ if name.endswith(CDXJ) else PARQUET
    segment = name.removesuffix(ending)
    row = await asked_file(caller, segment, "index")
    path = services.layout.index_file(row.key).with_suffix(ending)
    size_bytes = (await asyncio.to_thread(path.stat)).st_size
    return SentFile(
        FileToSend(
            name=name,
            media_type="application/vnd.apache.parquet" if ending == PARQUET else "text/x-cdxj",
            size_bytes=size_bytes,
            sha256=row.index_sha256 if ending == PARQUET else row.sha256,
            changed_ms=row.made_ms,
            open=lambda: path.open("rb"),
            is_given=lambda: is_public(services.db, row.name),
            front=caller.front(f"index/{path.parent.name}/{path.name}"),
        ),
        caller,
    )
