"""Speak to an ASGI application in this process: no sockets, no threads of a server.

The main thread keeps one event loop with its threads for all requests, as a server does; to make
them anew was 1.1 of the 2.8 ms that a page costs. Other threads have a loop for each request.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any, Final

import httpx
from starlette.types import ASGIApp

__all__ = ["Caller"]

_kept: Final = asyncio.Runner()
atexit.register(_kept.close)


class Caller:
    """A client of an application, as seen from an address."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        address: str = "127.0.0.1",
        scheme: str = "http",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._transport = httpx.ASGITransport(
            app, raise_app_exceptions=False, client=(address, 50000)
        )
        self._base = f"{scheme}://{'127.0.0.1' if scheme == 'http' else 'manager.example'}"
        self.headers = dict(headers or {})

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Send a GET."""
        return self.send("GET", path, **options)

    def post(
        self, path: str, content: bytes | AsyncIterator[bytes] = b"", **options: Any
    ) -> httpx.Response:
        """Send a POST."""
        if "json" in options:
            return self.send("POST", path, **options)
        return self.send("POST", path, content=content, **options)

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request and return its whole answer."""
        options["headers"] = {**self.headers, **options.get("headers", {})}

        async def once() -> httpx.Response:
            async with httpx.AsyncClient(transport=self._transport, base_url=self._base) as client:
                return await client.request(method, path, **options)

        return _run(once())


def _run(request: Coroutine[Any, Any, httpx.Response]) -> httpx.Response:
    """Run a request to its end, and end what it leaves behind."""
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(request)
    try:
        return _kept.run(request)
    finally:
        _kept.run(_end_others())


async def _end_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
