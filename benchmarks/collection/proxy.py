"""A bad proxy: cuts every connection after some bytes, and flips one byte in some chunks.

It carries bytes as they come and looks only for where a request's body begins: `flip_share` of the
bodies of a chunk (PATCH, or POST that stands for it) have one byte altered, anywhere in them.
`cut` gives the bytes from the client after which a connection is reset, in both directions.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

__all__ = ["BadProxy", "Carried"]

READ_BYTES: Final = 64 * 1024
HEAD_MOST: Final = 64 * 1024


@dataclass
class Carried:
    """Counts of the proxy's traffic and changes."""

    from_clients: int = 0  # bytes, heads included
    connections: int = 0
    cuts: int = 0
    chunks: int = 0
    flips: int = 0


class BadProxy:
    """A relay to one server on loopback."""

    def __init__(
        self, port: int, *, cut: Callable[[], int], flip_share: float, chance: random.Random
    ) -> None:
        self._port = port
        self._cut = cut
        self._flip_share = flip_share
        self._chance = chance
        self._server: asyncio.Server | None = None
        self.carried = Carried()

    async def start(self) -> int:
        """Listen on loopback; return the port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.carried.connections += 1
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            writer.transport.abort()
            return
        up = asyncio.create_task(self._up(reader, there_writer))
        down = asyncio.create_task(_copy(there_reader, writer))
        await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
        for task in (up, down):
            task.cancel()
        await asyncio.gather(up, down, return_exceptions=True)
        for end in (writer, there_writer):
            end.transport.abort()

    async def _up(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left, altering = self._cut(), _RequestAlterer(self)
        while data := await reader.read(READ_BYTES):
            self.carried.from_clients += len(data)
            if len(data) >= left:
                writer.write(altering.pass_on(data[:left]))
                with suppress(OSError):
                    await writer.drain()
                self.carried.cuts += 1
                return
            left -= len(data)
            writer.write(altering.pass_on(data))
            await writer.drain()

    def flip_at(self, size_bytes: int) -> int | None:
        """Return which byte of a chunk to alter; None: none."""
        self.carried.chunks += 1
        if self._chance.random() >= self._flip_share:
            return None
        self.carried.flips += 1
        return self._chance.randrange(size_bytes)


class _RequestAlterer:
    """Follows the requests of one connection, head and body in turn."""

    def __init__(self, proxy: BadProxy) -> None:
        self._proxy = proxy
        self._head = b""
        self._body_left = 0
        self._flip: int | None = None  # bytes from here to the one to alter

    def pass_on(self, data: bytes) -> bytes:
        """Return what is passed on in place of some bytes."""
        out, rest = bytearray(), data
        while rest:
            if self._body_left:
                part, rest = rest[: self._body_left], rest[self._body_left :]
                out += self._altered(part)
                self._body_left -= len(part)
                continue
            self._head += rest
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                assert len(self._head) < HEAD_MOST, "an agent's request"
                out += rest
                break
            body = self._head[end + 4 :]
            out += rest[: len(rest) - len(body)]
            self._begin(self._head[:end])
            self._head, rest = b"", body
        return bytes(out)

    def _begin(self, head: bytes) -> None:
        lines = head.lower().split(b"\r\n")
        lengths = [line[15:].strip() for line in lines if line.startswith(b"content-length:")]
        self._body_left = int(lengths[0]) if lengths else 0
        is_chunk = lines[0].startswith(b"patch ") or b"x-http-method-override: patch" in lines
        self._flip = None
        if is_chunk and self._body_left:
            self._flip = self._proxy.flip_at(self._body_left)

    def _altered(self, part: bytes) -> bytes:
        if self._flip is None:
            return part
        if self._flip >= len(part):
            self._flip -= len(part)
            return part
        place, self._flip = self._flip, None
        return part[:place] + bytes([part[place] ^ 0x20]) + part[place + 1 :]


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(READ_BYTES):
            writer.write(data)
            await writer.drain()
