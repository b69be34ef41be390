"""What goes over one connection, byte by byte; tests/e2e/test_manager_hostile.py has the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from manager.app.http_protocol import WAITING, BoundedProtocol

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class _Bounded(BoundedProtocol):
    head_s = 30.0


async def _slowly(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a part, and then with another when the line has ended."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"first", "more_body": True})
    while (await receive())["type"] != "http.disconnect":
        pass
    await send({"type": "http.response.body", "body": b"last"})


@asynccontextmanager
async def _served(
    app: ASGIApp,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter, ServerState]]:
    """Serve an application; yield a connection to it."""
    config = uvicorn.Config(app, http=_Bounded, log_config=None, lifespan="off")
    config.load()
    state, loop = ServerState(), asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: _Bounded(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        yield reader, writer, state
        writer.close()


async def _exchange(begun: bytes, then: bytes) -> bytes:
    """Send a request, wait for the first part of its answer, send more, read to the end."""
    async with _served(_slowly) as (reader, writer, state):
        writer.write(begun)
        answer = await reader.readuntil(b"first")
        writer.write(then)
        answer += await reader.read()
        await asyncio.gather(*state.tasks)
    return answer


def test_nonsense_behind_a_request_does_not_get_into_its_answer() -> None:
    """The line ends; no other answer stands in the midst of the one that was under way."""
    answer = asyncio.run(_exchange(GET, b"\0\0 nonsense\r\n\r\n"))
    assert answer.count(b"HTTP/1.1 ") == 1
    assert answer.endswith(b"first\r\n")


def test_nonsense_behind_a_request_that_waits_does_not_either() -> None:
    """Also where another request, good, waits for its turn."""
    answer = asyncio.run(_exchange(GET, GET + b"\0\0 nonsense\r\n\r\n"))
    assert answer.count(b"HTTP/1.1 ") == 1


def test_requests_that_are_sent_ahead_are_few() -> None:
    """A line with more of them than may wait ends, and its answer with it."""
    answer = asyncio.run(_exchange(GET, GET * (WAITING + 1)))
    assert answer.endswith(b"first\r\n")


def test_some_requests_may_be_sent_ahead() -> None:
    """They are answered one after the other."""

    async def at_once(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def exchange() -> bytes:
        async with _served(at_once) as (reader, writer, _):
            writer.write(GET * WAITING)
            answer = b""
            while answer.count(b"HTTP/1.1 204 ") < WAITING:
                answer += await reader.readexactly(1)
            return answer

    assert asyncio.run(exchange()).count(b"HTTP/1.1 ") == WAITING
