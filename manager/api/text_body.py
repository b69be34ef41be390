"""Lists that people upload: plain text or gzip, spooled, read line by line.

Invariant: a list that is cut short or is no gzip is refused as a whole, before anything is done
with it; memory is bounded, whatever its length.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fastapi import Request

from manager.api.door import AdminDoor
from manager.intake.receiving import Receiving, receive
from shared.wire.gzip_stream import decompress, split_lines
from shared.wire.server_list import LIST_LINE_LIMIT_BYTES

__all__ = ["TEXT_BODY", "Lines", "text_body"]

READ_BYTES: Final = 256 * 1024
GZIP: Final = b"\x1f\x8b"

TEXT_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "application/gzip": {},
            "application/octet-stream": {},
        },
    }
}
"""What OpenAPI says of such a body."""

Lines = Callable[[], Iterator[tuple[int, str]]]
"""Gives the lines from the beginning, each time it is called: number from 1, text."""


@asynccontextmanager
async def text_body(request: Request, door: AdminDoor, what: str) -> AsyncIterator[Lines]:
    """Take the body of a request; it is removed at the end of the `with` block.

    what: for messages, as `list of hosts`. Raises LimitError, FormatError, SlowSenderError.
    """
    limits = door.settings.limits
    declared = request.headers.get("content-length", "")
    body = await receive(
        request.stream(),
        door.spool,
        what,
        limit_bytes=limits.hosts_bytes,
        declared_bytes=int(declared) if declared.isdigit() else None,
        patience=Receiving(limits.upload_idle_s, limits.upload_least_bytes_per_s),
    )

    def lines() -> Iterator[tuple[int, str]]:
        return _lines(body.path, limits.hosts_bytes)

    try:
        await asyncio.to_thread(_read_to_its_end, lines)
        yield lines
    finally:
        await asyncio.to_thread(body.discard)


def _read_to_its_end(lines: Lines) -> None:
    for _ in lines():
        pass


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
