"""Take a body from a connection to the spool without blocking the others.

Invariant: memory holds one megabyte of a body at most; disk work happens in threads. A sender that
stalls or trickles is given up, because a connection that only waits costs as much as one that
works. What is refused or cut off leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from starlette.requests import Request

from manager.settings import LimitSettings
from manager.store import Rejected, Spool, Spooled
from shared.errors import FormatError, LimitError, PrsmError
from shared.messages import Message

__all__ = ["SlowSenderError", "check_rate", "declared_bytes", "keep_refused", "receive"]

GATHERED_BYTES: Final = 1024**2
CRAWL_LOG: Final = Message("segments.kind_log")
DISCOVERED_LIST: Final = Message("uploads.discovered_list")
RELEASE_FILE: Final = Message("uploads.release_file")
UPLOADED_LIST: Final = Message("uploads.list")
REQUEST_BODY: Final = Message("uploads.request_body")
RATE_GRACE_S: Final = 30.0
"""A sender may be slow for this long before its rate counts."""


class SlowSenderError(PrsmError):
    """A body came too slowly, or stopped coming (408)."""


def declared_bytes(request: Request) -> int | None:
    """Return the length of its body that a request declares; None: none that is a number."""
    declared = request.headers.get("content-length", "")
    return int(declared) if declared.isascii() and declared.isdigit() else None


async def receive(
    chunks: AsyncIterator[bytes],
    spool: Spool,
    what: Message,
    *,
    limit_bytes: int,
    declared_bytes: int | None,
    limits: LimitSettings,
    clock: Callable[[], float] = time.monotonic,
) -> Spooled:
    """Spool a body and return it. what: its kind, as `segments.kind_log`. limits: on slow senders.

    Raises LimitError, StoreFullError, SlowSenderError.
    """
    begun = clock()
    writer = await asyncio.to_thread(
        spool.begin, what, limit_bytes=limit_bytes, declared_bytes=declared_bytes
    )
    try:
        gathered = bytearray()
        received_bytes = 0
        source = aiter(chunks)
        while (chunk := await _next_chunk(source, what, limits.upload_idle_s)) is not None:
            gathered += chunk
            received_bytes += len(chunk)
            # Undeclared bodies are refused at the limit, not a megabyte later.
            if len(gathered) >= GATHERED_BYTES or received_bytes > limit_bytes:
                await asyncio.to_thread(writer.write, bytes(gathered))
                gathered.clear()
            check_rate(what, received_bytes, clock() - begun, limits.min_upload_bytes_per_s)
        await asyncio.to_thread(writer.write, bytes(gathered))
        return await asyncio.to_thread(writer.finish)
    finally:
        await asyncio.shield(asyncio.to_thread(writer.abort))


@asynccontextmanager
async def keep_refused(
    rejected: Rejected, body: Spooled, agent_id: int, what: Message, now_ms: Callable[[], int]
) -> AsyncIterator[None]:
    """Keep a spooled body for people where it is refused within; discard it at the end."""
    try:
        yield
    except (FormatError, LimitError) as error:
        await asyncio.to_thread(
            rejected.keep, body, agent_id, what, error.message, now_ms(), error=error
        )
        raise
    finally:
        await asyncio.shield(asyncio.to_thread(body.discard))


async def _next_chunk(source: AsyncIterator[bytes], what: Message, idle_s: float) -> bytes | None:
    try:
        async with asyncio.timeout(idle_s):
            return await anext(source, None)
    except TimeoutError as error:
        raise SlowSenderError("uploads.idle", what=what, idle_s=idle_s) from error


def check_rate(
    what: Message, received_bytes: int, elapsed_s: float, least_bytes_per_s: int
) -> None:
    """Raise SlowSenderError where a body comes too slowly."""
    if elapsed_s > RATE_GRACE_S and received_bytes < elapsed_s * least_bytes_per_s:
        raise SlowSenderError(
            "uploads.too_slow",
            what=what,
            received_bytes=received_bytes,
            elapsed_s=elapsed_s,
            least_bytes_per_s=least_bytes_per_s,
        )
