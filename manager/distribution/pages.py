"""The source's request: pages of hosts, by name, time and change, as a zip of zips or as WARC.

Made while it is sent, so it has no length and no ranges; what must be resumable is a job
(`/wasapi/v1/jobs`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel
from starlette.responses import Response

from manager.distribution.authentication import Caller, DistributionServices, caller_with
from manager.distribution.file_responses import SentStream, stream_headers
from manager.distribution.times import When, time_ms
from manager.operations.archive import selection_files
from manager.operations.archive.selections import (
    HeldPage,
    Selection,
    checked_selection,
    held_page,
    total_of,
)
from manager.store.captures.capture_selection import Conditions

__all__ = ["router", "selection_of", "selection_sources"]

router: Final = APIRouter(prefix="/api/v1", tags=["captures"])
Pages = Annotated[Caller, Depends(caller_with("pages"))]
LEAST_BYTES: Final = 64 * 10**6


class Size(BaseModel):
    """Upper bound of a selection: captures of the hosts, whatever their time."""

    hosts: int
    captures: int


def _asked(
    host: Annotated[str, Query(description="RE2, matches all of `www.example.jp:80`")] = "",
    url: Annotated[str, Query(max_length=8192, description="canonical URL, or its beginning")] = "",
    since: When = None,
    until: When = None,
    updated_since: When = None,
    one_of_each: Annotated[
        bool, Query(description="of pages with nearly the same text on a host only one")
    ] = False,
) -> Selection:
    """Return the selection of a request."""
    return selection_of(
        host=host,
        url=url,
        since=since,
        until=until,
        updated_since=updated_since,
        one_of_each=one_of_each,
    )


def selection_of(
    *,
    host: str,
    url: str,
    since: str | None,
    until: str | None,
    updated_since: str | None,
    one_of_each: bool,
) -> Selection:
    """Return a selection of its texts; raises FormatError, UrlError."""
    default = Conditions()
    since_ms, until_ms = time_ms("since", since), time_ms("until", until)
    return checked_selection(
        host,
        Conditions(
            url=url,
            since_ms=default.since_ms if since_ms is None else since_ms,
            until_ms=default.until_ms if until_ms is None else until_ms,
            updated_since_ms=time_ms("updated_since", updated_since),
            one_of_each=one_of_each,
        ),
    )


Asked = Annotated[Selection, Depends(_asked)]


@router.head("/pages.zip", include_in_schema=False)
@router.get("/pages.zip", response_class=Response)
async def pages_zip(caller: Pages, asked: Asked) -> Response:
    """Send `html/sumh/suml/host:port.zip` of each host: of each URL the newest answer."""
    return await _sent(caller, "zip", asked)


@router.head("/pages.warc.gz", include_in_schema=False)
@router.get("/pages.warc.gz", response_class=Response)
async def pages_warc(caller: Pages, asked: Asked) -> Response:
    """Send every capture that fits as WARC; a revisit whose original does not fit becomes whole."""
    return await _sent(caller, "warc", asked)


@router.get("/pages/hosts")
async def held_hosts(
    caller: Pages,
    asked: Asked,
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> HeldPage:
    """List the hosts that match, some at a time; `next` is the `after` of the next ones."""
    return await asyncio.to_thread(held_page, caller.services.db, asked, after, limit)


@router.get("/pages")
async def pages_size(caller: Pages, asked: Asked) -> Size:
    """Show the upper bound of hosts and captures of a selection, without making it."""
    found = await asyncio.to_thread(total_of, caller.services.db, asked)
    return Size(hosts=found[0], captures=found[1])


async def _sent(caller: Caller, form: str, asked: Selection) -> Response:
    ending = selection_files.FORMS[form]
    name = f"pages.{ending.suffix}"
    if caller.request.method == "HEAD":
        return Response(media_type=ending.media_type, headers=stream_headers(name))
    services = caller.services
    turn = services.selections.take(caller.client)
    try:
        await asyncio.to_thread(
            selection_files.note_selection,
            services.db,
            asked,
            form,
            caller.actor,
            services.now_ms(),
        )
    except BaseException:
        turn.close()
        raise
    settings = services.settings.archive
    share = max(LEAST_BYTES, settings.duckdb_memory_bytes // settings.parallel_selections)
    making = replace(selection_sources(services), memory_bytes=share)
    pieces: Iterator[bytes] = selection_files.make(making, asked, form)
    said = asked.host or asked.conditions.url
    return SentStream(name, ending.media_type, pieces, caller, said, turn)


def selection_sources(services: DistributionServices) -> selection_files.SelectionSources:
    """Return what selections are made with."""
    memory_bytes = services.settings.archive.duckdb_memory_bytes
    return selection_files.SelectionSources(
        services.db, services.layout, services.store, memory_bytes, services.now_ms
    )
