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

from manager.api.access import AdminServices
from manager.intake.body_decoding import DecodingLimits
from manager.intake.body_receiver import UPLOADED_LIST, declared_bytes, receive
from manager.intake.client_disconnect import gone_client, while_connected
from manager.intake.messages.list_check import ListJob, check_list, plain_chunks
from shared.wire.gzip_stream import split_lines
from shared.wire.server_list import LIST_LINE_LIMIT_BYTES

__all__ = ["TEXT_BODY", "Lines", "text_body"]

LINES_BETWEEN_LOOKS: Final = 1_000

TEXT_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": False,  # an empty list is one
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
async def text_body(request: Request, services: AdminServices) -> AsyncIterator[Lines]:
    """Take the body of a request; it is removed at the end of the `with` block.

    A worker process looks through it first; where the client goes away, the reading ends.
    Raises LimitError, FormatError, SlowSenderError.
    """
    limits = services.settings.limits
    body = await receive(
        request.stream(),
        services.spool,
        UPLOADED_LIST,
        limit_bytes=limits.hosts_bytes,
        declared_bytes=declared_bytes(request),
        limits=limits,
    )

    try:
        decoding = DecodingLimits(limits.hosts_bytes, limits.decoded_ratio, 10**12, "")
        job = ListJob(body.path, decoding, cpu_s=services.settings.intake.host_list_cpu_s)
        await while_connected(request, services.read(check_list, job))
        async with gone_client(request) as check_client:

            def lines() -> Iterator[tuple[int, str]]:
                return _lines(body.path, decoding, check_client)

            yield lines
    finally:
        await asyncio.shield(asyncio.to_thread(body.discard))


def _lines(
    body: Path, limits: DecodingLimits, check_client: Callable[[], None]
) -> Iterator[tuple[int, str]]:
    for number, line in split_lines(plain_chunks(body, limits), limit_bytes=LIST_LINE_LIMIT_BYTES):
        if number % LINES_BETWEEN_LOOKS == 0:
            check_client()
        yield number, line.decode("utf-8", "surrogateescape")
