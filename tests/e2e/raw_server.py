"""A server on loopback that answers with bytes, for tests of the fetch port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

__all__ = ["Connection", "RawServer", "Reply"]


ROUNDS = 10
"""Rounds of the event loop in which a connection that was just accepted becomes a task of ours."""


class Connection:
    """One connection of a client, as a reply sees it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        """Send bytes."""
        self._writer.write(data)
        await self._writer.drain()

    def reset(self) -> None:
        """Break the connection with a reset."""
        raw = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def gone(self) -> None:
        """Wait until the client has closed the connection."""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while await self._reader.read(65536):
                pass


Reply = bytes | Callable[[Connection], Awaitable[None]]


class RawServer:
    """Answers each request with the next of its replies, the last one again and again.

    A reply of bytes is sent as it is; `close` says whether the connection is closed behind it.
    """

    def __init__(
        self,
        *replies: Reply,
        address: str = "127.0.0.1",
        close: bool = False,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self.open = 0
        self._replies = list(replies)
        self._address = address
        self._close = close
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._accepted, self._address, 0, ssl=self._tls, limit=1 << 20
        )
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, path: str = "/", host: str = "www.a.example") -> str:
        """Return a URL that leads here, where the name is resolved to this server."""
        scheme = "https" if self._tls else "http"
        return f"{scheme}://{host}:{self.port}{path}"

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            while True:
                self.requests.append(await reader.readuntil(b"\r\n\r\n"))
                reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
                if isinstance(reply, bytes):
                    writer.write(reply)
                    await writer.drain()
                    if self._close:
                        return
                else:
                    await reply(Connection(reader, writer))
                    return
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            self.open -= 1
            writer.close()
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()
