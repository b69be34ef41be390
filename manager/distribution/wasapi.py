"""WASAPI v1, as archives speak it: `/wasapi/v1/webdata` lists files, checksums and addresses.

`collection` is the number of the agent that crawled, `crawl` that of the arrival. `after` is
inclusive, `before` is not. `next` names the last file of its page (`after_file`), so who follows
it gets each file that stays public, whatever is withdrawn meanwhile; a page's number cannot
promise that.
Source: WASAPI-Community/data-transfer-apis, the Archive-It v1 interface; `py-wasapi-client` 1.1.0
works against it unchanged.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from starlette.responses import JSONResponse

from manager.distribution.authentication import Caller, caller_with
from manager.distribution.segments import AfterFile, segment_path
from manager.distribution.times import When, time_ms
from manager.operations.archive.archive_files import FileFilter, FilePage, SegmentRow, list_files
from shared.archive.record import warc_date

__all__ = ["router"]

PAGE: Final = 100
LARGEST_PAGE: Final = 2000

router: Final = APIRouter(prefix="/wasapi/v1", tags=["WASAPI"])
Segments = Annotated[Caller, Depends(caller_with("segments", only_403=True))]


@router.get("/webdata", response_class=JSONResponse)
async def webdata(
    caller: Segments,
    filename: Annotated[str, Query(max_length=400)] = "",
    filetype: Annotated[str, Query(max_length=40)] = "",
    collection: Annotated[list[int] | None, Query(max_length=1000)] = None,
    crawl: int | None = None,
    crawl_time_after: Annotated[When, Query(alias="crawl-time-after")] = None,
    crawl_time_before: Annotated[When, Query(alias="crawl-time-before")] = None,
    crawl_start_after: Annotated[When, Query(alias="crawl-start-after")] = None,
    crawl_start_before: Annotated[When, Query(alias="crawl-start-before")] = None,
    store_time_after: Annotated[When, Query(alias="store-time-after")] = None,
    store_time_before: Annotated[When, Query(alias="store-time-before")] = None,
    page: Annotated[int, Query(ge=1, le=10**9)] = 1,
    page_size: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = PAGE,
    after_file: AfterFile = None,
) -> JSONResponse:
    """List the files that fit: name, size, checksums, where they are fetched."""
    starts = [
        time_ms("crawl-time-after", crawl_time_after),
        time_ms("crawl-start-after", crawl_start_after),
    ]
    ends = [
        time_ms("crawl-time-before", crawl_time_before),
        time_ms("crawl-start-before", crawl_start_before),
    ]
    asked = FileFilter(
        name=filename,
        agent_ids=tuple(collection or ()),
        arrival_id=crawl,
        captured_from_ms=max((at for at in starts if at is not None), default=None),
        captured_to_ms=min((at for at in ends if at is not None), default=None),
        made_from_ms=time_ms("store-time-after", store_time_after),
        made_to_ms=time_ms("store-time-before", store_time_before),
    )
    if filetype not in ("", "warc"):
        return JSONResponse(_answer(caller, FilePage(0, [], None), page, page_size))
    found = await asyncio.to_thread(
        list_files, caller.services.db, asked, page_size, page=page, after_id=after_file
    )
    return JSONResponse(_answer(caller, found, page, page_size))


def _answer(caller: Caller, found: FilePage, page: int, page_size: int) -> dict[str, Any]:
    asked = caller.request.url

    def at_page(number: int, **more: int) -> str:
        """Return the URL of a page of this list."""
        url = asked.remove_query_params("after_file")
        url = url.include_query_params(page=number, page_size=page_size, **more)
        return caller.at_address(f"{url.path}?{url.query}")

    after = found.next_id
    return {
        "count": found.count,
        "next": None if after is None else at_page(page + 1, after_file=after),
        "previous": at_page(page - 1) if page > 1 else None,
        "includes-extra": False,
        "request-url": caller.at_address(f"{asked.path}?{asked.query}"),
        "files": [_file(caller, row) for row in found.files],
    }


def _file(caller: Caller, row: SegmentRow) -> dict[str, Any]:
    return {
        "filename": row.name,
        "filetype": "warc",
        "checksums": {"md5": row.md5, "sha1": row.sha1, "sha256": row.sha256},
        "size": row.size_bytes,
        "locations": [caller.at_address(segment_path(row.name))],
        "account": 1,
        "collection": row.agent_id,
        "crawl": row.arrival_id,
        "crawl-time": warc_date(row.first_ms),
        "crawl-start": warc_date(row.first_ms),
        "store-time": warc_date(row.made_ms),
    }
