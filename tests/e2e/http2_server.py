"""The least HTTP/2 server: answers every stream with one page, or as it is told to.

No library, a few frames. It speaks HTTP/1.1 to clients that ask for it, as every server does.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import Sequence
from enum import Enum
from types import TracebackType
from typing import Final, Self

__all__ = ["Http2Server", "Stream"]

_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RST_STREAM, _SETTINGS, _PING, _GOAWAY = 0, 1, 3, 4, 6, 7
_ACK, _END_STREAM, _END_HEADERS = 1, 1, 4


class Stream(Enum):
    """What becomes of a stream."""

    PAGE = "the page"
    REFUSED = "RST_STREAM with REFUSED_STREAM"
    GOAWAY = "GOAWAY that names no stream, and the connection is closed"
    GOAWAY_OPEN = "the same, and the connection stays open"
    HTTP_1_1_REQUIRED = "RST_STREAM with HTTP_1_1_REQUIRED"
    INTERNAL_ERROR = "RST_STREAM with INTERNAL_ERROR"
    CLOSED = "the connection is closed"
    MISDIRECTED = "status 421"
    UNAUTHORIZED = "status 401"


_RESETS = {
    Stream.REFUSED: 7,  # RFC 9113, 7
    Stream.HTTP_1_1_REQUIRED: 13,
    Stream.INTERNAL_ERROR: 2,
}
_STATUSES = {Stream.PAGE: b"200", Stream.MISDIRECTED: b"421", Stream.UNAUTHORIZED: b"401"}


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return (
        len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload
    )


def _field(name: bytes, value: bytes) -> bytes:
    """A literal field without indexing (RFC 7541, 6.2.2)."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


class Http2Server:
    """Speaks h2 over TLS on a free port of loopback."""

    def __init__(
        self,
        tls: ssl.SSLContext,
        body: bytes,
        *more: tuple[bytes, bytes],
        streams: Sequence[Stream] = (Stream.PAGE,),
    ) -> None:
        """more: header fields of an answer over HTTP/2.

        streams: what becomes of one after the other, the last one again and again.
        """
        self._plan = list(streams)
        self.asked_s: list[float] = []  # when each request came, over whichever version
        tls.set_alpn_protocols(["h2", "http/1.1"])
        self._more = more
        self.old_requests: list[bytes] = []
        self._tls = tls
        self._body = body
        self.streams = 0
        self.connections = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0, ssl=self._tls)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            if writer.get_extra_info("ssl_object").selected_alpn_protocol() != "h2":
                await self._serve_http1(reader, writer)
                return
            assert await reader.readexactly(len(_PREFACE)) == _PREFACE
            writer.write(_frame(_SETTINGS, 0, 0, b""))
            while True:
                head = await reader.readexactly(9)
                payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
                if kind == _SETTINGS and not flags & _ACK:
                    writer.write(_frame(_SETTINGS, _ACK, 0, b""))
                elif kind == _PING and not flags & _ACK:
                    writer.write(_frame(_PING, _ACK, 0, payload))
                elif kind == _HEADERS:
                    self.streams += 1
                    self.asked_s.append(time.monotonic())
                    if not self._answer(writer, stream):
                        break
                await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()

    def _answer(self, writer: asyncio.StreamWriter, stream: int) -> bool:
        """Do with a stream what its turn says; tell whether the connection stays open."""
        what = self._plan.pop(0) if len(self._plan) > 1 else self._plan[0]
        if what in _RESETS:
            writer.write(_frame(_RST_STREAM, 0, stream, _RESETS[what].to_bytes(4, "big")))
            return True
        if what in (Stream.GOAWAY, Stream.GOAWAY_OPEN):
            writer.write(_frame(_GOAWAY, 0, 0, bytes(8)))  # the last one taken: 0, no error
        if what in (Stream.GOAWAY, Stream.GOAWAY_OPEN, Stream.CLOSED):
            return what is Stream.GOAWAY_OPEN
        # :status, with the indexed name 8
        fields = b"\x08\x03" + _STATUSES[what] + _field(b"content-type", b"text/plain")
        fields += b"".join(_field(name, value) for name, value in self._more)
        writer.write(_frame(_HEADERS, _END_HEADERS, stream, fields))
        writer.write(_frame(_DATA, _END_STREAM, stream, self._body))
        return True

    async def _serve_http1(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            self.old_requests.append(await reader.readuntil(b"\r\n\r\n"))
            self.asked_s.append(time.monotonic())
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(self._body))
            writer.write(self._body)
            await writer.drain()
