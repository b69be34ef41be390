"""Work for a request that ends when its client goes away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

__all__ = ["gone_client", "while_connected"]

_Result = TypeVar("_Result")


async def while_connected(request: Request, work: Coroutine[Any, Any, _Result]) -> _Result:
    """Return what some work comes to; where the client goes away, cancel it and wait for its end.

    Only behind the body of the request. Raises what the work raises, and ClientDisconnect.
    """
    working = asyncio.create_task(work)
    gone = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        gone.cancel()
        working.cancel()
        await asyncio.wait({working, gone})
        if not working.cancelled():
            working.exception()  # reported already, or no longer of interest


@asynccontextmanager
async def gone_client(request: Request) -> AsyncIterator[Callable[[], None]]:
    """Yield a check for a thread: it raises ClientDisconnect if the client has disconnected.

    Only behind the body of the request.
    """
    watching = asyncio.create_task(_disconnected(request))

    def check() -> None:
        if watching.done():
            raise ClientDisconnect

    try:
        yield check
    finally:
        watching.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
