"""Hosts: search, look at one, import a list, exclude and include."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from manager.api.door import AdminDoor, Door, Operator, Viewer
from manager.intake import Receiving, receive
from manager.operations import host_views, hosts
from manager.operations.actor import Actor
from manager.operations.host_views import HostDetail, HostFilter, HostPage
from manager.operations.hosts import Imported
from shared.wire.gzip_stream import decompress, split_lines
from shared.wire.server_list import LIST_LINE_LIMIT_BYTES

__all__ = ["router"]

READ_BYTES: Final = 256 * 1024
GZIP: Final = b"\x1f\x8b"

router: Final = APIRouter(prefix="/hosts", tags=["hosts"])


class Exclude(BaseModel):
    """A host that no robot is to visit, and why; the reason is shown to whoever asks."""

    host: Annotated[str, Field(max_length=2083)]
    reason: Annotated[str, Field(max_length=500)] = ""


class Include(BaseModel):
    """A host that may be visited again."""

    host: Annotated[str, Field(max_length=2083)]


@router.get("")
async def list_hosts(
    door: Door,
    _: Viewer,
    domain: Annotated[str, Query(description="`example.jp`: it and all names below it")] = "",
    text: Annotated[str, Query(description="anywhere in the key")] = "",
    owner: Annotated[str, Query(description="an agent's name")] = "",
    state: Annotated[str, Query(description="new, idle, probing, placed or excluded")] = "",
    sort: Annotated[str, Query(description="a column, `-` before it for descending")] = "domain",
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> HostPage:
    """List the hosts that match, sorted, a page at a time."""
    return await asyncio.to_thread(
        host_views.list_hosts,
        door.db,
        HostFilter(domain, text, owner, state),
        sort=sort,
        limit=limit,
        offset=offset,
    )


@router.get("/detail")
async def host_detail(
    door: Door, _: Viewer, host: Annotated[str, Query(description="its key, or any URL on it")]
) -> HostDetail:
    """Show all that is known of a host."""
    return await asyncio.to_thread(host_views.host_detail, door.db, host, door.policy)


@router.post(
    "/import",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"text/plain": {"schema": {"type": "string"}}, "application/gzip": {}},
        }
    },
)
async def import_hosts(request: Request, door: Door, actor: Operator) -> Imported:
    """Add the hosts of a list: a URL a line, perhaps a tab and a referer; plain text or gzip.

    `http://` is put before lines without a scheme; empty lines and comments are skipped; lines
    that name no host are refused by their number, and keep no other out.
    """
    limits = door.settings.limits
    declared = request.headers.get("content-length", "")
    body = await receive(
        request.stream(),
        door.spool,
        "list of hosts",
        limit_bytes=limits.hosts_bytes,
        declared_bytes=int(declared) if declared.isdigit() else None,
        patience=Receiving(limits.upload_idle_s, limits.upload_least_bytes_per_s),
    )
    try:
        return await asyncio.to_thread(_import, door, actor, body.path)
    finally:
        await asyncio.to_thread(body.discard)


def _import(door: AdminDoor, actor: Actor, body: Path) -> Imported:
    limit_bytes = door.settings.limits.hosts_bytes
    # Read to its end first: a list that is cut short in the middle is refused as a whole.
    for _ in _lines(body, limit_bytes):
        pass
    return hosts.import_hosts(door.db, _lines(body, limit_bytes), actor, door.now_ms(), door.policy)


def _lines(body: Path, limit_bytes: int) -> Iterator[tuple[int, str]]:
    for number, line in split_lines(_plain(body, limit_bytes), limit_bytes=LIST_LINE_LIMIT_BYTES):
        yield number, line.decode("utf-8", "surrogateescape")


def _plain(body: Path, limit_bytes: int) -> Iterator[bytes]:
    with body.open("rb") as file:
        zipped = file.read(len(GZIP)) == GZIP
    return decompress(_chunks(body), limit_bytes=limit_bytes) if zipped else _chunks(body)


def _chunks(body: Path) -> Iterator[bytes]:
    with body.open("rb") as file:
        while chunk := file.read(READ_BYTES):
            yield chunk


@router.post("/exclude", status_code=204)
async def exclude(door: Door, actor: Operator, asked: Exclude) -> None:
    """Take a host out of the crawl."""
    await asyncio.to_thread(
        hosts.exclude_host, door.db, asked.host, asked.reason, actor, door.now_ms()
    )


@router.post("/include", status_code=204)
async def include(door: Door, actor: Operator, asked: Include) -> None:
    """Let a host into the crawl again."""
    await asyncio.to_thread(hosts.include_host, door.db, asked.host, actor, door.now_ms())
