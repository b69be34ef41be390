"""A line between an agent and its manager that counts bytes by the request that they belong to.

An agent sends its next request on a connection when it has the answer to the one before. So the
first bytes from the agent behind bytes of the manager begin a request, and name its path; all up to
the next request belongs to it, heads and answers included.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from typing import Final

__all__ = ["FOUND", "LIST", "CountedLine"]

FOUND: Final = "/servlets/record"
"""Path of M2: pages and hosts that were found."""

LIST: Final = "/servlets/list"
"""Path of M1: units with their start pages."""

READ_BYTES: Final = 65_536
START_S: Final = 30.0


class CountedLine:
    """Listens on a free port of loopback, passes on to another, and counts. For one agent."""

    def __init__(self, to_port: int) -> None:
        self._to_port = to_port
        self.port = 0
        self.carried: Counter[str] = Counter()  # bytes by path, both ways
        self.requests: Counter[str] = Counter()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="line")
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(START_S)

    def close(self) -> None:
        """Listen no more and end all connections."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(START_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self._server = server
        self.port = int(server.sockets[0].getsockname()[1])

    async def _end(self) -> None:
        self._server.close()
        others = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _carry(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):
            far, forth = await asyncio.open_connection("127.0.0.1", self._to_port)
            request = _Request()
            ways = {
                asyncio.create_task(self._pass(near, forth, request, is_agent=True)),
                asyncio.create_task(self._pass(far, back, request, is_agent=False)),
            }
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                forth.transport.abort()
        back.transport.abort()

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        request: _Request,
        *,
        is_agent: bool,
    ) -> None:
        while data := await reader.read(READ_BYTES):
            if is_agent and request.begins(data):
                self.requests[request.path] += 1
            request.is_answered = not is_agent
            self.carried[request.path] += len(data)
            writer.write(data)
            await writer.drain()


class _Request:
    """The request of a connection that is under way, or was the last one."""

    def __init__(self) -> None:
        self.path = ""
        self.is_answered = True

    def begins(self, data: bytes) -> bool:
        """Return whether bytes from the agent begin a request; take its path."""
        if not self.is_answered:
            return False
        _, _, rest = data.partition(b" ")
        self.path = rest.partition(b" ")[0].partition(b"?")[0].decode("latin-1")
        return True
