"""The fetch port against real sockets on loopback."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from agent.adapters.body_memory import BodyMemory
from agent.adapters.clock import SystemClock
from agent.adapters.curl import CurlFetcher, FetchOptions
from agent.pipeline.messages.pages import Earlier
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest
from shared.messages import Message
from tests.e2e.raw_server import Connection, RawServer

pytestmark = pytest.mark.e2e

OPTIONS = FetchOptions(
    user_agent="prsm-test/0.1 (+http://c.example/robot)",
    from_address="robot@c.example",
    first_byte_s=20,
    deadline_s=30,
)
HELLO = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
DATE = "Sat, 21 Nov 2026 10:00:00 GMT"
ENDED = 20.0  # seconds until a test gives up; never reached when things work


@asynccontextmanager
async def fetching(
    options: FetchOptions = OPTIONS,
    may_fetch: Callable[[], bool] = lambda: True,
    refusal: Callable[[str], Message | None] = lambda _: None,
) -> AsyncIterator[CurlFetcher]:
    fetcher = CurlFetcher(options, may_fetch, refusal, SystemClock())
    try:
        yield fetcher
    finally:
        fetcher.close()


def begin(
    fetcher: CurlFetcher, url: str, *, address: str = "127.0.0.1", max_body_bytes: int = 100_000
) -> asyncio.Future[FetchAnswer]:
    done: asyncio.Future[FetchAnswer] = asyncio.get_running_loop().create_future()
    fetcher.start(FetchRequest(url, address, max_body_bytes), done.set_result)
    return done


async def get_once(
    fetcher: CurlFetcher, url: str, *, address: str = "127.0.0.1", max_body_bytes: int = 100_000
) -> FetchAnswer:
    """Send one request."""
    done = begin(fetcher, url, address=address, max_body_bytes=max_body_bytes)
    return await asyncio.wait_for(done, ENDED)


async def get(
    fetcher: CurlFetcher, url: str, *, address: str = "127.0.0.1", max_body_bytes: int = 100_000
) -> FetchAnswer:
    """Send a request up to three times, as the frontier does, until it is no `retry`."""
    for _ in range(3):
        answer = await get_once(fetcher, url, address=address, max_body_bytes=max_body_bytes)
        if answer.outcome != "retry":
            break
    return answer


def once(reply: bytes | Callable[[Connection], object], **options: object) -> FetchAnswer:
    """Fetch one page from a server with one reply, and close the connection behind it."""

    async def run() -> FetchAnswer:
        async with (
            RawServer(reply, close=True) as server,  # type: ignore[arg-type]  # an async reply
            fetching(replace(OPTIONS, **options)) as fetcher,  # type: ignore[arg-type]
        ):
            return await get(fetcher, server.url("/x"), max_body_bytes=10)

    return asyncio.run(run())


def test_the_recorded_request_is_the_one_sent() -> None:
    """What the archive says of a request is byte for byte what the server got."""
    paths = ["/", "/a/../b/./c", "/?q", "/%7B{|}'()*!$&,;=:@[]?x=[]{}|^`%zz", "/a//b", "//x"]

    async def run() -> None:
        async with RawServer(HELLO) as server, fetching() as fetcher:
            for path in paths:
                answer = await get(fetcher, server.url(path))
                assert answer.outcome == "answered"
                assert answer.capture is not None
                assert answer.capture.request == server.requests[-1]
                assert answer.request_bytes == len(server.requests[-1])
            assert b"From: robot@c.example\r\n" in server.requests[0]
            assert b"Host: www.a.example:%d\r\n" % server.port in server.requests[0]

    asyncio.run(run())


def test_a_conditional_request_is_one_of_its_own() -> None:
    """Its field is sent and recorded, and the next request on the same handle has none of it."""
    unmodified = b'HTTP/1.1 304 Not Modified\r\nETag: "e"\r\n\r\n'

    async def run() -> None:
        async with RawServer(unmodified) as server, fetching() as fetcher:
            for etag, modified, field in (
                ('"e"', "", b'If-None-Match: "e"\r\n'),
                ("", "", b""),
                ('"e"', DATE, b'If-None-Match: "e"\r\n'),
                ("", DATE, b"If-Modified-Since: %b\r\n" % DATE.encode()),
                ("", "", b""),
            ):
                done: asyncio.Future[FetchAnswer] = asyncio.get_running_loop().create_future()
                earlier = Earlier(1, "sha256:" + "0" * 64, etag, modified)
                request = FetchRequest(server.url("/x"), "127.0.0.1", 1000, earlier=earlier)
                fetcher.start(request, done.set_result)
                answer = await asyncio.wait_for(done, ENDED)
                assert answer.status == 304
                assert answer.capture is not None
                sent = server.requests[-1]
                assert answer.capture.request == sent
                assert [line for line in sent.splitlines(True) if line.startswith(b"If-")] == (
                    [field] if field else []
                )
                assert sent.endswith(b"\r\n\r\n")

    asyncio.run(run())


def test_an_answer_is_kept_as_it_came() -> None:
    """Header block, body, address, sizes and time of an answer are told."""
    header = b"HTTP/1.1 404 Nix da\r\nServer:x\r\nset-cookie: a=\xe4\r\nContent-Length: 3\r\n\r\n"
    answer = once(header + b"abc")
    assert answer.capture is not None
    assert answer.capture.response_header == header
    assert answer.capture.body == b"abc"
    assert answer.capture.ip == "127.0.0.1"
    assert (answer.outcome, answer.status) == ("answered", 404)
    assert answer.response_bytes == len(header) + 3
    assert answer.elapsed_ms > 0
    assert answer.capture.fetched_at_ms == answer.started_epoch_ms


def test_a_body_stays_encoded_and_loses_its_chunks() -> None:
    """Content encoding is the page's, transfer encoding the connection's."""
    answer = once(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\n\x1f\x8b\x08\r\n2;e=1\r\nxx\r\n0\r\nTrailer: t\r\n\r\n"
    )
    assert answer.outcome == "answered"
    assert answer.capture is not None
    assert answer.capture.body == b"\x1f\x8b\x08xx"
    assert b"Transfer-Encoding: chunked" in answer.capture.response_header
    assert b"Trailer" not in answer.capture.response_header


def test_informational_answers_are_passed_over() -> None:
    """100 and 103 come before the answer and are not it."""
    answer = once(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + HELLO
    )
    assert answer.status == 200
    assert answer.capture is not None
    assert answer.capture.response_header.startswith(b"HTTP/1.1 200")


def test_a_redirect_is_told_and_not_followed() -> None:
    """Where a redirect leads is the crawl's to judge."""
    answer = once(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/secret\r\n\r\n")
    assert (answer.outcome, answer.status) == ("answered", 302)
    assert answer.location == "http://127.0.0.1:1/secret"


def test_a_busy_server_says_when_to_come_back() -> None:
    """Retry-After is read."""
    answer = once(b"HTTP/1.1 503 Busy\r\nRetry-After: 77\r\nContent-Length: 0\r\n\r\n")
    assert answer.retry_after_s == 77


def test_a_large_body_is_cut_at_the_limit() -> None:
    """Exactly the limit is kept, also where the length was announced; a body that fits is whole."""
    for head in (b"Content-Length: 5000\r\n", b""):
        answer = once(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n" + b"0123456789x" * 500)
        assert answer.outcome == "truncated"
        assert answer.capture is not None
        assert answer.capture.body == b"0123456789"
        assert answer.capture.truncated == "length"
        assert not answer.kept_alive
    assert once(b"HTTP/1.1 200 OK\r\n\r\n0123456789").outcome == "answered"


async def endless(connection: Connection) -> None:
    await connection.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        await connection.send(b"x" * 65536)


def test_an_endless_body_ends() -> None:
    """A server that never stops is stopped by the limit."""
    assert once(endless).outcome == "truncated"


async def endless_trailers(connection: Connection) -> None:
    await connection.send(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: a\r\n\r\n5\r\nhello\r\n0\r\n"
    )
    while True:
        await connection.send(b"a: " + b"b" * 1000 + b"\r\n")
        await asyncio.sleep(0.0001)


async def endless_hints(connection: Connection) -> None:
    while True:
        await connection.send(b"HTTP/1.1 103 Early Hints\r\nLink: <" + b"b" * 1000 + b">\r\n\r\n")
        await asyncio.sleep(0.0001)


def test_an_endless_header_ends() -> None:
    """Neither what comes before the answer nor what comes behind its body fills the memory."""
    answer = once(endless_trailers, deadline_s=ENDED * 10)
    assert answer.outcome == "truncated"
    assert answer.capture is not None
    assert (answer.capture.body, answer.capture.truncated) == (b"hello", "disconnect")
    assert answer.response_bytes < 50_000_000
    hints = once(endless_hints, deadline_s=ENDED * 10)
    assert hints.outcome == "disconnected"
    assert hints.response_bytes < 50_000_000


async def silent(connection: Connection) -> None:
    await connection.gone()


def test_a_silent_server_is_given_up() -> None:
    """No first byte in time is a timeout, with a true duration."""
    answer = once(silent, first_byte_s=0.3)
    assert answer.outcome == "timeout"
    assert answer.capture is None
    assert answer.elapsed_ms >= 300
    assert answer.request_bytes > 0


async def stalls(connection: Connection) -> None:
    await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
    await connection.gone()


def test_what_a_stalling_server_sent_is_kept() -> None:
    """After the deadline the part that came is the page."""
    answer = once(stalls, deadline_s=0.5)
    assert answer.outcome == "truncated"
    assert answer.capture is not None
    assert (answer.capture.body, answer.capture.truncated) == (b"abc", "time")


def test_a_server_slower_than_the_minimum_rate_is_cut() -> None:
    """Nobody holds a connection for ten minutes with ten bytes."""
    answer = once(stalls, min_rate=1000, min_rate_s=1)
    assert answer.capture is not None
    assert answer.capture.truncated == "time"


async def breaks_in_body(connection: Connection) -> None:
    await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")


async def breaks_in_header(connection: Connection) -> None:
    await connection.send(b"HTTP/1.1 200 OK\r\nContent-Le")


async def breaks_at_once(connection: Connection) -> None:
    connection.reset()


def test_broken_connections_are_told_apart() -> None:
    """With a whole header it is a cut page, before that no page."""
    answer = once(breaks_in_body)
    assert answer.outcome == "truncated"
    assert answer.capture is not None
    assert (answer.capture.body, answer.capture.truncated) == (b"abc", "disconnect")
    assert once(breaks_in_header).outcome == "disconnected"
    assert once(breaks_at_once).outcome == "disconnected"


def test_what_is_no_http_is_malformed() -> None:
    """A banner of another protocol is not an answer."""
    assert once(b"220 mail.example ESMTP ready\r\n").outcome == "malformed"
    assert once(b"\x00\x01\x02\x03" * 100).outcome == "malformed"


@pytest.mark.parametrize("lines", [1, 700, 4000])
def test_a_header_beyond_its_limit_is_no_answer(lines: int) -> None:
    """Sixty-four kilobytes of header are enough for any page."""
    padding = b"X: " + b"y" * (70_000 // lines if lines < 4000 else 96) + b"\r\n"
    answer = once(b"HTTP/1.1 200 OK\r\n" + padding * lines + b"\r\nbody")
    assert answer.outcome == "malformed"
    assert answer.capture is None


def test_nobody_listens() -> None:
    """A closed port is refused."""

    async def run() -> None:
        async with RawServer(HELLO) as server:
            url = server.url()
        async with fetching() as fetcher:
            assert (await get(fetcher, url)).outcome == "refused"

    asyncio.run(run())


def test_without_a_permit_nothing_is_sent() -> None:
    """A request without a permit does not even connect."""

    async def run() -> None:
        async with RawServer(HELLO) as server, fetching(may_fetch=lambda: False) as fetcher:
            answer = await get(fetcher, server.url())
            assert answer.outcome == "no_permit"
            assert server.connections == 0

    asyncio.run(run())


def test_a_permit_that_ends_while_connecting_stops_the_request() -> None:
    """The permit is asked again when the connection stands: the process may have been stopped."""
    asked: list[bool] = [False, True]

    async def run() -> None:
        async with RawServer(HELLO) as server, fetching(may_fetch=asked.pop) as fetcher:
            answer = await get(fetcher, server.url())
            assert answer.outcome == "no_permit"
            assert answer.capture is None
            assert not asked
            assert server.requests == []

    asyncio.run(run())


def test_a_forbidden_address_is_not_connected_to() -> None:
    """The fetch port checks the address once more."""

    async def run() -> None:
        async with (
            RawServer(HELLO) as server,
            fetching(refusal=lambda _: Message("naming.loopback")) as fetcher,
        ):
            answer = await get(fetcher, server.url())
            assert (answer.outcome, answer.detail) == ("forbidden_address", "loopback")
            assert server.connections == 0

    asyncio.run(run())


def test_the_address_is_pinned_and_the_name_kept() -> None:
    """A request goes to the checked address, whatever the name resolves to; IPv6 as well."""

    async def run() -> None:
        async with RawServer(HELLO, address="127.0.0.3") as server, fetching() as fetcher:
            url = server.url(host="localhost")
            assert (await get(fetcher, url, address="127.0.0.3")).status == 200
            assert server.requests[0].split(b"\r\n")[1] == b"Host: localhost:%d" % server.port
            assert (await get(fetcher, url, address="127.0.0.4")).outcome == "refused"
        async with RawServer(HELLO, address="::1") as server, fetching() as fetcher:
            assert (await get(fetcher, server.url(), address="::1")).status == 200

    asyncio.run(run())


def test_connections_are_kept_and_used_again() -> None:
    """A second request to the same host travels on the first one's connection."""

    async def run() -> None:
        async with RawServer(HELLO) as server, fetching() as fetcher:
            for _ in range(3):
                assert (await get(fetcher, server.url())).kept_alive
            assert (server.connections, len(server.requests)) == (1, 3)

    asyncio.run(run())


def test_one_connection_an_address() -> None:
    """A connection kept open under one name is hung up before one under another is made."""

    async def run() -> None:
        async with RawServer(HELLO) as server, fetching() as fetcher:
            for number in range(4):
                await get(fetcher, server.url(host=f"www{number % 2}.a.example"))
                assert server.open == 1
            assert server.connections == 4

    asyncio.run(run())


def test_requests_run_beside_one_another() -> None:
    """A slow server does not hold up the others."""

    async def run() -> None:
        async with (
            RawServer(silent) as slow,
            RawServer(HELLO, address="127.0.0.2") as quick,
            fetching() as fetcher,
        ):
            waiting = begin(fetcher, slow.url())
            for _ in range(20):
                assert (await get(fetcher, quick.url(), address="127.0.0.2")).status == 200
            assert not waiting.done()
            assert fetcher.in_flight == 1

    asyncio.run(run())


def test_draining_waits_and_then_ends_the_rest() -> None:
    """At the end requests under way get their time; new ones and late ones are `stopped`."""

    async def run() -> None:
        asked, release = asyncio.Event(), asyncio.Event()

        async def when_released(connection: Connection) -> None:
            asked.set()
            await release.wait()
            await connection.send(HELLO)

        async with (
            RawServer(when_released) as server,
            RawServer(silent, address="127.0.0.2") as slow,
            fetching() as fetcher,
        ):
            good = begin(fetcher, server.url())
            late = begin(fetcher, slow.url(), address="127.0.0.2")
            await asyncio.wait_for(asked.wait(), ENDED)
            draining = asyncio.ensure_future(fetcher.drain(1.0))
            await asyncio.sleep(0)
            assert (await get(fetcher, server.url())).outcome == "stopped"
            release.set()
            assert (await asyncio.wait_for(good, ENDED)).outcome == "answered"
            await draining
            assert late.result().outcome == "stopped"
            assert fetcher.in_flight == 0

    asyncio.run(run())


def test_a_proxy_is_used_for_everything() -> None:
    """Through a proxy the name is the proxy's to resolve, and its cache is passed by."""

    async def run() -> None:
        async with RawServer(HELLO) as proxy:
            options = replace(OPTIONS, proxy=f"http://127.0.0.1:{proxy.port}")
            async with fetching(options) as fetcher:
                url = "http://far.invalid/x?y"
                answer = await get(fetcher, url, address="")
                assert answer.outcome == "answered"
                assert answer.capture is not None
                assert answer.capture.request == proxy.requests[0]
                assert answer.capture.ip is None
                assert proxy.requests[0].startswith(b"GET http://far.invalid/x?y HTTP/1.1\r\n")
                assert b"Cache-Control: no-cache\r\n" in proxy.requests[0]

    asyncio.run(run())


def test_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only our own settings decide the way."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert once(HELLO).outcome == "answered"


def test_requests_leave_from_the_given_address() -> None:
    """A machine with several addresses crawls from the one that it is told."""
    seen: list[str] = []

    async def run() -> None:
        async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seen.append(writer.get_extra_info("peername")[0])
            await reader.readuntil(b"\r\n\r\n")
            writer.write(HELLO)
            await writer.drain()
            writer.close()
            await writer.wait_closed()

        server = await asyncio.start_server(note, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, fetching(replace(OPTIONS, source_address="127.0.0.9")) as fetcher:
            answer = await get(fetcher, f"http://a.example:{port}/")
            assert answer.outcome == "answered"

    asyncio.run(run())
    assert seen == ["127.0.0.9"]


def test_all_answers_together_keep_to_the_rate() -> None:
    """With a limit nothing is lost, only later; a stricter limit holds for what is under way."""
    body = b"x" * 60_000
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + body

    async def run() -> None:
        async with (
            RawServer(page) as one,
            RawServer(page, address="127.0.0.2") as two,
            fetching(replace(OPTIONS, rate=40_000)) as fetcher,
        ):
            begun_s = time.monotonic()
            first = begin(fetcher, one.url())
            second = begin(fetcher, two.url(), address="127.0.0.2")
            answers = [await asyncio.wait_for(done, ENDED) for done in (first, second)]
            for answer in answers:
                assert answer.capture is not None
                assert answer.capture.body == body
            # A second's worth is there at the start; 80,000 bytes have to wait for theirs.
            assert max(answer.ended_s for answer in answers) - begun_s >= 0.9
            assert fetcher.passed_bytes == 120_000
            fetcher.limit_rate(0)
            assert (await get(fetcher, one.url())).outcome == "answered"

    asyncio.run(run())


def large_page(size_bytes: int) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size_bytes + b"x" * size_bytes


def test_our_own_pauses_are_not_the_servers_time() -> None:
    """A page that comes late by our own limit is whole, and its server no slower for it."""

    async def run() -> None:
        async with (
            RawServer(large_page(300_000)) as server,
            fetching(replace(OPTIONS, rate=50_000, deadline_s=2.0)) as fetcher,
        ):
            begun_s = time.monotonic()
            answer = await get(fetcher, server.url(), max_body_bytes=300_000)
            assert answer.outcome == "answered"
            # One second's worth and one piece are free; the other 186,000 bytes wait for theirs.
            assert answer.ended_s - begun_s >= 3.5
            assert 0 < answer.elapsed_ms <= 2_500

    asyncio.run(run())


def test_a_looser_limit_holds_at_once_for_what_waits() -> None:
    """Whoever was paused under a stricter limit does not wait for that one's time."""

    async def run() -> None:
        async with (
            RawServer(large_page(500_000)) as server,
            fetching(replace(OPTIONS, rate=100)) as fetcher,
        ):
            done = begin(fetcher, server.url(), max_body_bytes=500_000)
            for _ in range(2_000):
                if fetcher._paused:
                    break
                await asyncio.sleep(0.01)
            assert fetcher._paused
            fetcher.limit_rate(0)
            assert (await asyncio.wait_for(done, ENDED)).outcome == "answered"

    asyncio.run(run())


class Counted(BodyMemory):
    """Remembers the greatest sum."""

    greatest = 0

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "sum":
            assert isinstance(value, int)
            self.greatest = max(self.greatest, value)


def fetch_large(
    held: BodyMemory, count: int, size_bytes: int, **options: object
) -> list[FetchAnswer]:
    """Fetch so many bodies of `size_bytes` at the same time."""

    async def run() -> list[FetchAnswer]:
        chosen = replace(OPTIONS, **options)  # type: ignore[arg-type]
        async with RawServer(large_page(size_bytes)) as server:
            fetcher = CurlFetcher(chosen, lambda: True, lambda _: None, SystemClock(), held)
            try:
                return await asyncio.gather(
                    *(get(fetcher, server.url(), max_body_bytes=size_bytes) for _ in range(count))
                )
            finally:
                fetcher.close()

    return asyncio.run(run())


def test_bodies_in_flight_stay_below_their_bound_and_one_body() -> None:
    """Of twenty that have room for three, all arrive whole."""
    held = Counted(6_000_000)
    answers = fetch_large(held, 20, 2_000_000)
    assert [one.outcome for one in answers] == ["answered"] * 20
    assert all(one.capture and len(one.capture.body) == 2_000_000 for one in answers)
    assert 6_000_000 < held.greatest <= 6_000_000 + 2_000_000 + 65_536
    assert held.sum == 0


def test_a_body_larger_than_the_bound_arrives_too() -> None:
    """One goes on whatever the bound says; they come one after the other then."""
    held = Counted(100_000)
    answers = fetch_large(held, 4, 1_000_000)
    assert [one.outcome for one in answers] == ["answered"] * 4
    assert held.sum == 0


def test_bodies_that_wait_for_memory_and_for_the_rate_arrive() -> None:
    """The two limits do not hold each other up."""
    held = Counted(300_000)
    answers = fetch_large(held, 6, 200_000, rate=1_000_000)
    assert [one.outcome for one in answers] == ["answered"] * 6
    assert held.greatest <= 300_000 + 200_000 + 65_536
    assert held.sum == 0


def test_waiting_for_memory_is_not_the_servers_time() -> None:
    """Transfers that wait for pages to be read outlast their deadline, and go on with the room."""

    async def run() -> None:
        held = BodyMemory(1_000_000)
        held.sum = held.waiting = 2_000_000  # pages that are with the workers
        async with RawServer(large_page(500_000)) as server:
            fetcher = CurlFetcher(
                replace(OPTIONS, deadline_s=2.0, min_rate=10_000, min_rate_s=1),
                lambda: True,
                lambda _: None,
                SystemClock(),
                held,
            )
            try:
                assert fetcher.crowded
                done = [begin(fetcher, server.url(), max_body_bytes=500_000) for _ in range(3)]
                await asyncio.sleep(3.0)
                assert held.sum == 2_000_000  # not a piece came in
                held.sum = held.waiting = 0
                for answer in await asyncio.wait_for(asyncio.gather(*done), ENDED):
                    assert (answer.outcome, answer.elapsed_ms <= 2_000) == ("answered", True)
                assert not fetcher.crowded
            finally:
                fetcher.close()

    asyncio.run(run())


def test_a_transfer_that_ends_while_it_waits_takes_nobodys_turn() -> None:
    """Those that wait are ended with the fetcher, and give back what they held."""

    async def run() -> int:
        held = BodyMemory(100_000)
        async with RawServer(large_page(500_000)) as server:
            fetcher = CurlFetcher(OPTIONS, lambda: True, lambda _: None, SystemClock(), held)
            done = [begin(fetcher, server.url(), max_body_bytes=500_000) for _ in range(5)]
            for _ in range(2_000):
                if held.gate < 0:
                    break
                await asyncio.sleep(0.01)
            assert held.gate < 0
            fetcher.close()
            await asyncio.wait_for(asyncio.gather(*done), ENDED)
        return held.sum

    assert asyncio.run(run()) == 0


def test_a_body_that_is_too_long_by_the_piece_that_waited_is_cut() -> None:
    """It ends when it goes on, and none of the others that waited is forgotten for it."""

    async def run() -> None:
        async with (
            RawServer(large_page(200_000)) as server,
            fetching(replace(OPTIONS, rate=100_000)) as fetcher,
        ):
            sizes = (70_000, 100_000, 130_000, 150_000)
            answers = await asyncio.gather(
                *(get(fetcher, server.url(), max_body_bytes=size) for size in sizes)
            )
        for answer, size in zip(answers, sizes, strict=True):
            assert answer.outcome == "truncated"
            assert answer.capture is not None
            assert (answer.capture.truncated, len(answer.capture.body)) == ("length", size)

    asyncio.run(run())


def test_pauses_of_ours_outlast_no_permit() -> None:
    """A transfer that waits for our limit ends with the permit; its handle is as good as new."""
    asked: list[bool] = [False, True, True]

    def may_fetch() -> bool:
        return asked.pop() if len(asked) > 1 else asked[0]

    async def run() -> None:
        options = replace(OPTIONS, rate=1_000, deadline_s=0.5)
        async with (
            RawServer(large_page(500_000)) as server,
            fetching(options, may_fetch) as fetcher,
        ):
            answer = await get(fetcher, server.url(), max_body_bytes=500_000)
            assert answer.outcome == "truncated"
            assert answer.capture is not None
            assert answer.capture.truncated == "time"
            assert "no permit for longer" in answer.detail
            assert 0 < answer.elapsed_ms <= 500
            asked[0] = True
            fetcher.limit_rate(0)
            again = await get(fetcher, server.url(), max_body_bytes=500_000)
            assert (again.outcome, again.elapsed_ms > 0) == ("answered", True)

    asyncio.run(run())
