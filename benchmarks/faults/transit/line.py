"""A TCP line of our own between two programs, that can be cut.

`hold` keeps data and passes nothing on, as a partition does: no side sees an error. `cut`
ends open connections and refuses new ones, as a machine does that lost its process. `mend` repairs
the line and passes on the held data.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Final

__all__ = ["Line"]

CHUNK: Final = 65_536


class Line:
    """Listens on a free port of loopback and passes on to another."""

    def __init__(self, to_port: int, to_host: str = "127.0.0.1") -> None:
        """to_port: may be changed later; it holds for connections from then on."""
        self.to_host, self.to_port = to_host, to_port
        self.port = 0
        self.delay_s = 0.0  # each piece of bytes comes so much later
        self._open = asyncio.Event()
        self._refusing = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="line")
        self._thread.start()
        self._server = self._here(self._listen())

    def hold(self) -> None:
        """Pass nothing on, and say nothing."""
        self._loop.call_soon_threadsafe(self._open.clear)

    def cut(self) -> None:
        """End all connections and refuse new ones."""
        self._here(self._cut())

    def mend(self) -> None:
        """Pass on again, also the held data."""
        self._refusing = False
        self._loop.call_soon_threadsafe(self._open.set)

    def close(self) -> None:
        """Listen no more and end all connections."""
        self._here(self._cut())
        self._server.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _here(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _listen(self) -> asyncio.Server:
        self._open.set()
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.port = int(server.sockets[0].getsockname()[1])
        return server

    async def _cut(self) -> None:
        self._refusing = True
        for writer in list(self._writers):
            writer.transport.abort()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    async def _carry(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(back)
        try:
            if self._refusing:
                return
            await self._open.wait()
            far, forth = await asyncio.open_connection(self.to_host, self.to_port)
            self._writers.add(forth)
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._pass(near, forth))
                    both.create_task(self._pass(far, back))
            finally:
                self._writers.discard(forth)
                forth.transport.abort()
        except* (OSError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(back)
            back.transport.abort()
            self._tasks.discard(task)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK):
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            await self._open.wait()
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
