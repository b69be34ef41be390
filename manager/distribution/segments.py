"""Whole segments, and the index and CDXJ beside each: `/api/v1/segments/NAME`."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from manager.distribution.authentication import Caller, caller_with
from manager.distribution.file_responses import FileToSend, SentFile
from manager.operations.archive.archive_files import SegmentRow, is_public, public_file, take_file

__all__ = ["AfterFile", "asked_file", "router", "segment_path"]

WARC: Final = "application/warc"

router: Final = APIRouter(prefix="/api/v1/segments", tags=["captures"])
Segments = Annotated[Caller, Depends(caller_with("segments"))]
AfterFile = Annotated[
    int | None, Query(ge=0, le=2**63 - 1, description="as `next` has it: goes before `page`")
]


def segment_path(name: str) -> str:
    """Return where a segment is fetched."""
    return f"/api/v1/segments/{name}"


@router.head("/{name}", include_in_schema=False)
@router.get("/{name}", response_class=Response)
async def segment(caller: Segments, name: str) -> Response:
    """Send a segment: WARC, a gzip member a record. Ranges and If-Range are answered."""
    services, row = caller.services, await asked_file(caller, name, "segment")
    has_file = services.store.path(row.key) is not None
    return SentFile(
        FileToSend(
            name=row.name,
            media_type=WARC,
            size_bytes=row.size_bytes,
            sha256=row.sha256,
            changed_ms=row.made_ms,
            open=lambda: services.store.open(row.key),
            is_given=lambda: is_public(services.db, row.name),
            front=caller.front(f"segments/{row.key}") if has_file else None,
        ),
        caller,
    )


async def asked_file(caller: Caller, name: str, what: str) -> SegmentRow:
    """Return a public segment of which a client asks for a file, and record that it takes it."""
    services, request = caller.services, caller.request
    # A download that is resumed, or asked about, is not another one.
    if request.method == "HEAD" or "range" in request.headers:
        return await asyncio.to_thread(public_file, services.db, name)
    return await asyncio.to_thread(
        take_file, services.db, name, what, caller.actor, services.now_ms()
    )
