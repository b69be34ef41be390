"""A request is sent once: what libcurl would repeat by itself has a turn of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from agent.pipeline.messages.requests import FetchAnswer
from tests.e2e.crawling.test_fetch import HELLO, OPTIONS, fetching, get_once
from tests.e2e.crawling.test_fetch_tls import Identity, identity
from tests.e2e.http2_server import Http2Server, Stream
from tests.e2e.raw_server import Connection, RawServer

__all__ = ["identity"]

pytestmark = pytest.mark.e2e

ANY_CERTIFICATE = replace(OPTIONS, verify_tls=False)


@dataclass(frozen=True)
class Seen:
    """What the crawl was told, and the server asked."""

    answers: list[FetchAnswer]
    streams: int  # over HTTP/2
    old_requests: int  # over HTTP/1.1
    connections: int


def over_http2(identity: Identity, streams: Sequence[Stream], requests: int) -> Seen:
    """Send requests one after the other to a server that treats its streams as told."""

    async def run() -> Seen:
        async with (
            Http2Server(identity.context(), b"hello", streams=streams) as server,
            fetching(ANY_CERTIFICATE) as fetcher,
        ):
            url = f"https://www.a.example:{server.port}/x"
            answers = [await get_once(fetcher, url) for _ in range(requests)]
            return Seen(answers, server.streams, len(server.old_requests), server.connections)

    return asyncio.run(run())


UNANSWERED = (
    *(Stream.REFUSED, Stream.GOAWAY, Stream.GOAWAY_OPEN, Stream.HTTP_1_1_REQUIRED),
    *(Stream.INTERNAL_ERROR, Stream.CLOSED),
)


@pytest.mark.parametrize("what", UNANSWERED)
def test_a_stream_without_an_answer_is_one_request(identity: Identity, what: Stream) -> None:
    """Neither libcurl nor we ask again at once; the next time it is asked over HTTP/1.1."""
    seen = over_http2(identity, [what], requests=1)
    (answer,) = seen.answers
    assert (answer.outcome, answer.was_sent, answer.is_free_retry) == ("retry", True, True)
    assert answer.detail.endswith("asked again over HTTP/1.1")
    assert (seen.streams, seen.old_requests, seen.connections) == (1, 0, 1)
    seen = over_http2(identity, [what], requests=3)
    assert [answer.outcome for answer in seen.answers] == ["retry", "answered", "answered"]
    assert (seen.streams, seen.old_requests, seen.connections) == (1, 2, 2)


@pytest.mark.parametrize("what", UNANSWERED)
def test_an_open_connection_is_no_excuse(identity: Identity, what: Stream) -> None:
    """The same where pages came over the connection before."""
    seen = over_http2(identity, [Stream.PAGE, what, Stream.PAGE], requests=2)
    assert [answer.outcome for answer in seen.answers] == ["answered", "retry"]
    assert (seen.streams, seen.old_requests, seen.connections) == (2, 0, 1)


@pytest.mark.parametrize(
    ("what", "status"), [(Stream.MISDIRECTED, 421), (Stream.UNAUTHORIZED, 401)]
)
def test_an_answer_that_asks_for_another_request_is_the_answer(
    identity: Identity, what: Stream, status: int
) -> None:
    """A connection leads to one host only, and nobody has a password."""
    seen = over_http2(identity, [what], requests=1)
    assert (seen.answers[0].outcome, seen.answers[0].status) == ("answered", status)
    assert (seen.streams, seen.old_requests, seen.connections) == (1, 0, 1)


async def hang_up(_: Connection) -> None:
    """Close the connection without a byte."""


async def break_off(connection: Connection) -> None:
    """Reset the connection without a byte."""
    connection.reset()


@pytest.mark.parametrize("ending", [hang_up, break_off])
@pytest.mark.parametrize("tls", [False, True])
def test_a_kept_connection_that_ends_is_one_request(
    identity: Identity, ending: object, *, tls: bool
) -> None:
    """libcurl would connect anew and ask again, though nobody knows what became of the first."""

    async def run() -> None:
        replies = [HELLO, ending, HELLO]
        async with (
            RawServer(*replies, tls=identity.context() if tls else None) as server,  # type: ignore[arg-type]  # coroutines
            fetching(ANY_CERTIFICATE) as fetcher,
        ):
            answers = [await get_once(fetcher, server.url(path)) for path in ("/1", "/2", "/2")]
            assert [answer.outcome for answer in answers] == ["answered", "retry", "answered"]
            asked = [request.split()[1] for request in server.requests]
            assert asked == [b"/1", b"/2", b"/2"]
            assert server.connections == 2

    asyncio.run(run())


@pytest.mark.parametrize("ending", [hang_up, break_off])
def test_a_new_connection_that_ends_is_no_retry(ending: object) -> None:
    """That is the server's doing, and counts as no answer."""

    async def run() -> None:
        async with (
            RawServer(ending) as server,  # type: ignore[arg-type]  # a coroutine
            fetching() as fetcher,
        ):
            assert (await get_once(fetcher, server.url())).outcome == "disconnected"
            assert len(server.requests) == server.connections == 1

    asyncio.run(run())


def test_a_kept_connection_to_a_proxy_that_ends_is_one_request() -> None:
    """A connection may be made anew there, but nothing is sent over it."""

    async def run() -> None:
        async with RawServer(HELLO, hang_up, HELLO) as server:
            proxied = replace(OPTIONS, proxy=f"http://127.0.0.1:{server.port}")
            async with fetching(proxied) as fetcher:
                url = "http://www.a.example/x"
                answers = [await get_once(fetcher, url, address="") for _ in range(3)]
            assert [answer.outcome for answer in answers] == ["answered", "retry", "answered"]
            assert len(server.requests) == 3

    asyncio.run(run())


def test_a_length_that_is_none_has_a_turn_of_its_own() -> None:
    """The second way to ask is not asked at once either."""

    async def run() -> None:
        reply = b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nall of it"
        async with RawServer(reply, close=True) as server, fetching() as fetcher:
            first = await get_once(fetcher, server.url())
            assert (first.outcome, len(server.requests)) == ("retry", 1)
            assert first.detail.endswith("asked again without regard to Content-Length")
            assert (await get_once(fetcher, server.url())).outcome == "answered"
            assert len(server.requests) == 2

    asyncio.run(run())


@pytest.mark.parametrize(("ending", "tls"), [("closed", False), ("reset", False), ("reset", True)])
def test_a_connection_that_was_hung_up_meanwhile_is_not_used(
    identity: Identity, ending: str, tls: bool
) -> None:
    """The next request has a new one at once, also within the second in which libcurl trusts it."""

    async def answer(connection: Connection) -> None:
        await connection.send(HELLO)
        if ending == "reset":
            connection.reset()

    async def run() -> None:
        context = identity.context() if tls else None
        async with RawServer(answer, tls=context) as server, fetching(ANY_CERTIFICATE) as fetcher:
            for number in range(3):
                assert (await get_once(fetcher, server.url())).outcome == "answered"
                (kept,) = fetcher._idle._idle.values()
                async with asyncio.timeout(20):
                    while not fetcher._sockets.has_ended(kept.descriptor):  # noqa: ASYNC110  # no event
                        await asyncio.sleep(0)
                assert len(server.requests) == number + 1

    asyncio.run(run())


@pytest.mark.parametrize("tls", [False, True])
def test_names_that_share_an_address_never_meet_a_connection_of_ours_that_was_hung_up(
    identity: Identity, *, tls: bool
) -> None:
    """One is open at a time: each name gets a new one, and no request is a `retry` by our doing."""

    async def run() -> None:
        async with (
            RawServer(HELLO, tls=identity.context() if tls else None) as server,
            fetching(ANY_CERTIFICATE) as fetcher,
        ):
            names = "aabb" + 20 * "ab" + "aabbbbaaa"  # libcurl would give up after five that ended
            urls = [server.url("/", host=f"www.{name}.example") for name in names]
            answers = [await get_once(fetcher, url) for url in urls]
            assert {answer.outcome for answer in answers} == {"answered"}
            assert server.connections >= 40

    asyncio.run(run())
