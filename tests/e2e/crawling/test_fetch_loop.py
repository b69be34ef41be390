"""How the fetch port lives on the event loop: sockets, and whoever takes its answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent.pipeline.messages.requests import FetchAnswer, FetchRequest
from tests.e2e.crawling.test_fetch import HELLO, begin, fetching, get
from tests.e2e.raw_server import Connection, RawServer

pytestmark = pytest.mark.e2e


def test_a_kept_connection_that_is_hung_up_wakes_the_loop_once() -> None:
    """A server that hangs up between two requests costs a wake-up, and the next one is fetched."""

    async def hang_up(connection: Connection) -> None:
        await connection.send(HELLO)
        connection.reset()

    async def run() -> None:
        async with RawServer(hang_up) as server, fetching() as fetcher:
            turns, ready = 0, fetcher._handle_ready

            def counted() -> None:
                nonlocal turns
                turns += 1
                ready()

            loop = asyncio.get_running_loop()
            loop.add_reader(fetcher._sockets.fileno, counted)
            for _ in range(3):
                assert (await get(fetcher, server.url())).status == 200
                for _ in range(200):
                    await asyncio.sleep(0)
                assert server.open == 0
            so_far = turns
            for _ in range(200):
                await asyncio.sleep(0)
            assert turns <= so_far + 1
            assert server.connections == 3

    asyncio.run(run())


def test_a_taker_that_fails_takes_no_answer_from_the_others() -> None:
    """An answer whose taker raises is an error of the loop; the others are delivered."""
    errors: list[dict[str, Any]] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: errors.append(context))

        def fail(_: FetchAnswer) -> None:
            raise RuntimeError("the taker")

        async with fetching(may_fetch=lambda: False) as fetcher:
            fetcher.start(FetchRequest("http://a.example/", "127.0.0.1", 10), fail)
            others = [begin(fetcher, "http://a.example/") for _ in range(3)]
            answers = await asyncio.wait_for(asyncio.gather(*others), 20)
            assert [answer.outcome for answer in answers] == ["no_permit"] * 3

    asyncio.run(run())
    assert [str(context["exception"]) for context in errors] == ["the taker"]


def test_a_socket_number_that_is_used_again_is_watched_again() -> None:
    """Connections that close and open under the same number lose no wake-up."""

    async def run() -> None:
        async with RawServer(HELLO, close=True) as server, fetching() as fetcher:
            for _ in range(30):
                assert (await get(fetcher, server.url())).status == 200
            assert server.connections == 30

    asyncio.run(run())


def test_an_answer_says_where_its_time_went() -> None:
    """Connecting, the first byte and the whole follow each other; an open connection costs none."""

    async def late(connection: Connection) -> None:
        await asyncio.sleep(0.05)
        await connection.send(HELLO)

    async def run() -> None:
        async with RawServer(late) as server, fetching() as fetcher:
            first = await get(fetcher, server.url())
            assert 0 < first.connect_ms < first.first_byte_ms <= first.elapsed_ms
            assert first.first_byte_ms >= 50
        async with RawServer(HELLO) as server, fetching() as fetcher:
            await get(fetcher, server.url())
            again = await get(fetcher, server.url())
            assert (server.connections, again.connect_ms) == (1, 0)

    asyncio.run(run())
