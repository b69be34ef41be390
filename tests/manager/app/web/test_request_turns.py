"""No address keeps the event loop from the requests of another."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial

import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from manager.app.web.address_shares import REQUESTS_PER_ROUND, RequestTurns
from manager.app.web.http_protocol import BoundedProtocol

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def _begun(wanted: list[str]) -> list[str]:
    """Return the addresses in the order in which their requests began; "-" ends a round."""
    begun: list[str] = []

    async def run() -> None:
        turns = RequestTurns(asyncio.get_running_loop())
        for address in wanted:
            turns.take(address, partial(begun.append, address))
        while sum(one != "-" for one in begun) < len(wanted):
            begun.append("-")
            await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(run(), 60))
    return begun


def test_few_requests_begin_at_once() -> None:
    """Where the loop is idle nothing waits."""
    wanted = ["many"] * REQUESTS_PER_ROUND + ["other"]
    assert _begun(wanted) == wanted


def test_the_others_begin_though_one_asks_for_much() -> None:
    """Whoever comes last begins in the first round if its address has not asked."""
    begun = _begun(["many"] * 100 + ["other"])
    assert begun.index("other") < begun.index("-")


def test_each_round_brings_a_few_of_each_address() -> None:
    """All begin, in the order in which they came."""
    begun = _begun(["one", "two"] * 100)
    rounds = "".join(one[0] for one in begun).split("-")
    assert all(part.count("o") <= REQUESTS_PER_ROUND >= part.count("t") for part in rounds)
    assert begun.count("one") == begun.count("two") == 100


def test_a_request_that_begins_may_ask_for_the_next() -> None:
    """Its turn comes in a later round, also of the last one that waited."""
    begun: list[int] = []

    async def run() -> None:
        turns = RequestTurns(asyncio.get_running_loop())
        over = asyncio.Event()

        def begin() -> None:
            begun.append(len(begun))
            if len(begun) == 50:
                over.set()
            else:
                turns.take("one", begin)

        turns.take("one", begin)
        await over.wait()

    asyncio.run(asyncio.wait_for(run(), 60))
    assert begun == list(range(50))


def _served_in_order(ask: Callable[[tuple[str, int]], list[socket.socket]]) -> list[str]:
    """Serve connections that were all made before the server looks; return whose request began."""
    order: list[str] = []
    wanted = 0
    over = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        order.append(scope["client"][0])
        if len(order) == wanted:
            over.set()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def run() -> None:
        nonlocal wanted
        config = uvicorn.Config(app, http=BoundedProtocol, log_config=None, lifespan="off")
        config.load()
        state, loop = ServerState(), asyncio.get_running_loop()
        protocol = type("_Bounded", (BoundedProtocol,), {"head_s": 30.0})
        server = await loop.create_server(
            lambda: protocol(config=config, server_state=state, app_state={}), "0.0.0.0", 0
        )
        async with server:
            lines = ask(("127.0.0.1", server.sockets[0].getsockname()[1]))
            wanted = len(lines)
            await over.wait()
            for line in lines:
                line.close()

    asyncio.run(asyncio.wait_for(run(), 60))
    return order


def test_a_thousand_connections_leave_the_loop_to_others() -> None:
    """A request that came behind those of eighty connections begins before most of them."""

    def ask(server: tuple[str, int]) -> list[socket.socket]:
        lines = []
        for address in ["127.0.0.1"] * 80 + ["127.0.0.2"]:
            line = socket.create_connection(server, source_address=(address, 0))
            line.sendall(GET)
            lines.append(line)
        return lines

    order = _served_in_order(ask)
    assert order.index("127.0.0.2") <= 2 * REQUESTS_PER_ROUND
