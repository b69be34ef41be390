"""HTTP/1.1 of one connection, byte by byte; `test_manager_hostile.py` has the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from manager.app.web.answer_pace import AnswerPace
from manager.app.web.http_protocol import CHUNKS_FREE, WAITING, BoundedProtocol
from manager.app.web.request_heads import FIELDS_MOST

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


def _one_answer(request: bytes, app: ASGIApp) -> bytes:
    """Return all that a server says to some bytes."""

    async def exchange() -> bytes:
        async with _served(app) as (reader, writer, _):
            writer.write(request)
            return await reader.read()

    return asyncio.run(exchange())


async def _body_read(scope: Scope, receive: Receive, send: Send) -> None:
    """Read a body and tell its length; close."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    head = [(b"connection", b"close")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": f"read {size}".encode()})


def test_a_head_has_so_many_fields() -> None:
    """Thirteen thousand fit into 64 KB, and each layer would go through them."""
    begin = b"GET / HTTP/1.1\r\nHost: x\r\n"
    good = _one_answer(begin + b"a:b\r\n" * (FIELDS_MOST - 1) + b"\r\n", _body_read)
    assert b" 200 " in good
    answer = _one_answer(begin + b"a:b\r\n" * FIELDS_MOST + b"\r\n", _body_read)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"more than 100 fields; send fewer" in answer


def test_a_body_in_very_small_chunks_is_refused() -> None:
    """Each costs as much as a kilobyte; a few thousand small lines are taken."""
    begin = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    lines = b"10\r\n0123456789abcdef\r\n" * 3_000 + b"0\r\n\r\n"
    assert b"read 48000" in _one_answer(begin + lines, _body_read)
    few = b"1\r\nx\r\n" * CHUNKS_FREE + b"0\r\n\r\n"
    assert b"read 1000" in _one_answer(begin + few, _body_read)
    many = b"1\r\nx\r\n" * (2 * CHUNKS_FREE)
    answer = _one_answer(begin + many, _body_read)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"send larger chunks" in answer


async def _endless(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer for as long as somebody takes it."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": bytes(2**20), "more_body": True})
        if scope["state"]["lost"].is_set():
            return


def test_who_takes_nothing_of_an_answer_is_cut_off() -> None:
    """Else some thousand clients would keep all connections for ever, each with one request."""

    async def exchange() -> None:
        lost = asyncio.Event()

        class Impatient(_Bounded):
            answer_idle_s = 0.05

            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                lost.set()

        config = uvicorn.Config(_endless, http=Impatient, log_config=None, lifespan="off")
        config.load()
        state, loop = ServerState(), asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: Impatient(config=config, server_state=state, app_state={"lost": lost}),
            "127.0.0.1",
            0,
        )
        async with server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname(), limit=2**10)
            cast("asyncio.Transport", writer.transport).pause_reading()
            writer.write(GET)
            await lost.wait()
            await asyncio.gather(*state.tasks)
            assert not state.connections
            writer.close()

    asyncio.run(exchange())


def test_who_takes_an_answer_slowly_but_steadily_keeps_it() -> None:
    """What counts is whether anything is taken, not how long the whole takes."""

    class Transport(asyncio.Transport):
        left_bytes = 1_000_000
        aborted = False

        def get_write_buffer_size(self) -> int:
            return self.left_bytes

        def abort(self) -> None:
            self.aborted = True

    class Loop:
        """A clock that only says when to look again."""

        looks: list[Callable[[], None]]

        def __init__(self) -> None:
            self.looks = []

        def call_later(self, _: float, look: Callable[[], None]) -> asyncio.TimerHandle:
            self.looks.append(look)
            return cast("asyncio.TimerHandle", None)

    loop, transport = Loop(), Transport()
    AnswerPace(cast("asyncio.AbstractEventLoop", loop), transport, 60.0, 100)
    for _ in range(5):
        transport.left_bytes -= 6_000
        loop.looks[-1]()
        assert not transport.aborted
    transport.left_bytes -= 5_999
    loop.looks[-1]()
    assert transport.aborted
    assert len(loop.looks) == 6


@pytest.mark.parametrize("keeps_whole", [False, True])
def test_an_address_has_half_of_all_connections_at_most(keeps_whole: bool) -> None:
    """The next ones end before they are read; behind a proxy all have its address, and may."""

    class Shared(_Bounded):
        most_connections = 20

    Shared.keeps_whole = keeps_whole

    async def exchange() -> int:
        config = uvicorn.Config(_body_read, http=Shared, log_config=None, lifespan="off")
        config.load()
        state, loop = ServerState(), asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: Shared(config=config, server_state=state, app_state={}), "127.0.0.1", 0
        )
        answered = 0
        async with server:
            port = server.sockets[0].getsockname()[1]
            held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(10)]
            for _ in range(3):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    writer.write(GET)
                    answered += b" 200 " in await reader.read()
                except ConnectionError:
                    pass
                writer.close()
            for _, writer in held:
                writer.close()
        return answered

    assert asyncio.run(exchange()) == (3 if keeps_whole else 0)
