"""Headers that libcurl refuses: read as browsers read them, or refused in words."""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace

import pytest

from agent.pipeline.messages.requests import FetchAnswer
from shared.archive.encode import encode_capture
from shared.archive.reader import read_capture
from tests.e2e.crawling.test_fetch import OPTIONS, fetching, get, get_once
from tests.e2e.crawling.test_fetch_tls import Identity, identity
from tests.e2e.raw_server import RawServer

__all__ = ["identity"]

pytestmark = pytest.mark.e2e

OK = b"HTTP/1.1 200 OK\r\n"
REST = b"Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n"


def fetched(reply: bytes, identity: Identity | None = None) -> tuple[FetchAnswer, list[bytes]]:
    """Fetch a page from a server, and another one; return the first and all requests."""

    async def run() -> tuple[FetchAnswer, list[bytes]]:
        tls = None if identity is None else identity.context()
        options = OPTIONS if identity is None else replace(OPTIONS, ca_file=identity.certificate)
        async with RawServer(reply, close=True, tls=tls) as server, fetching(options) as fetcher:
            answer = await get(fetcher, server.url("/a"))
            await get_once(fetcher, server.url("/b"))
            return answer, server.requests

    return asyncio.run(run())


READ = {
    "a line without a colon": OK + b"no colon here\r\n" + REST,
    "a fold behind the status line, without a colon": OK + b" folded\r\n" + REST,
    "an empty line first": b"\r\n" + OK + REST,
    "four bytes first": b"junk" + OK + REST,
    "a version that there is not": b"HTTP/1.2 200 OK\r\n" + REST,
    "two spaces before the status": b"HTTP/1.1  200 OK\r\n" + REST,
    "a carriage return within a line": OK + b"X: a\rb\r\n" + REST,
    "Shoutcast": b"ICY 200 OK\r\nicy-name: x\r\n" + REST,
}


@pytest.mark.parametrize("name", READ)
def test_a_header_that_browsers_read_is_read(name: str) -> None:
    """By a second request; the header is kept as it came, and the host is remembered."""
    answer, requests = fetched(READ[name] + b"hi, and what belongs to nobody")
    assert (answer.outcome, answer.status, answer.kept_alive) == ("answered", 200, False)
    capture = answer.capture
    assert capture is not None
    assert capture.body == b"hi"
    sent = READ[name].lstrip(b"junk\r\n")
    assert capture.response_header == sent
    stored = read_capture(io.BytesIO(encode_capture(capture).data), 0)
    assert (stored.response_header, stored.body) == (sent, b"hi")
    assert [request.split()[1] for request in requests] == [b"/a", b"/a", b"/b"]
    assert capture.request == requests[1]
    assert b"\r\nConnection: close\r\n" in requests[1]
    assert (answer.request_bytes, answer.response_bytes > 0) == (len(requests[1]), True)


REFUSED = {
    "a NUL byte in the header": (OK + b"X: a\0b\r\n" + REST, 1),
    "two different Location fields": (
        b"HTTP/1.1 302 Found\r\nLocation: /x\r\nLocation: /y\r\n" + REST,
        1,
    ),
    "no status line": (b"<html>a page of HTTP/0.9</html>", 2),
    "no status": (b"HTTP/1.1 OK\r\n" + REST, 2),
    "header larger than 65536 bytes": (OK + b"no colon\r\n" + b"X: abcdef\r\n" * 7000 + REST, 2),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_header_that_cannot_be_read_is_named(reason: str) -> None:
    """What browsers refuse as well is not asked for twice, where libcurl says enough."""
    reply, requests = REFUSED[reason]
    answer, asked = fetched(reply + b"hi")
    assert (answer.outcome, answer.detail, answer.capture) == ("malformed", reason, None)
    assert len([one for one in asked if b" /a " in one]) == requests


def test_a_line_without_a_colon_hides_no_second_location() -> None:
    """Both rules hold in the tolerant way as well."""
    head = b"HTTP/1.1 302 Found\r\nno colon\r\nLocation: /x\r\n"
    answer, _ = fetched(head + b"Location: /y\r\n" + REST + b"hi")
    assert answer.detail == "two different Location fields"
    answer, _ = fetched(head + b"Location: /x\r\n" + REST + b"hi")
    assert (answer.outcome, answer.location) == ("answered", "/x")


@pytest.mark.parametrize("ending", [b"0\r\n\r\n", b"0\r\nTrailer: x\r\n\r\n"])
def test_chunks_are_taken_off(ending: bytes) -> None:
    """As of any other answer; a body whose last chunk is missing is marked as cut."""
    head = OK + b"no colon\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"3;x=y\r\nabc\r\nA\r\n0123456789\r\n"
    answer, _ = fetched(head + chunks + ending)
    assert answer.capture is not None
    assert (answer.outcome, answer.capture.body) == ("answered", b"abc0123456789")
    answer, _ = fetched(head + chunks)
    assert answer.capture is not None
    assert (answer.outcome, answer.capture.truncated) == ("truncated", "disconnect")
    assert answer.capture.body == b"abc0123456789"


def test_a_shorter_body_than_announced_is_cut() -> None:
    """And one without a length ends with the connection."""
    answer, _ = fetched(OK + b"no colon\r\nContent-Length: 9\r\n\r\nhi")
    assert answer.capture is not None
    assert (answer.outcome, answer.capture.truncated) == ("truncated", "disconnect")
    answer, _ = fetched(OK + b"no colon\r\n\r\nhi")
    assert answer.outcome == "answered"


def test_certificates_are_checked_there_too(identity: Identity) -> None:
    """The second way is as safe as the first."""
    answer, requests = fetched(READ["a line without a colon"] + b"hi", identity)
    assert answer.outcome == "answered"
    assert len(requests) == 3


def test_limits_and_permit_hold_there_too() -> None:
    """A large body is cut, a silent server given up, and without a permit nothing is sent."""
    reply = OK + b"no colon\r\n\r\n" + b"x" * 5000
    allowed = True

    async def run() -> None:
        nonlocal allowed
        async with (
            RawServer(reply, close=True) as server,
            fetching(may_fetch=lambda: allowed) as fetcher,
        ):
            answer = await get(fetcher, server.url(), max_body_bytes=10)
            assert answer.capture is not None
            assert (answer.capture.truncated, len(answer.capture.body)) == ("length", 10)
            allowed = False
            asked = len(server.requests)
            assert (await get_once(fetcher, server.url())).outcome == "no_permit"
            assert len(server.requests) == asked
            assert fetcher.in_flight == 0

    asyncio.run(run())


def test_what_is_under_way_ends_with_the_agent() -> None:
    """Draining waits for it, and ends it then."""

    async def run() -> None:
        async def silent(connection: object) -> None:
            await asyncio.Event().wait()

        reply = OK + b"no colon\r\n" + REST + b"hi"
        async with RawServer(reply, silent, close=True) as server, fetching() as fetcher:
            assert (await get_once(fetcher, server.url())).outcome == "retry"
            waiting = asyncio.ensure_future(get_once(fetcher, server.url()))
            while len(server.requests) < 2:  # noqa: ASYNC110  # no event
                await asyncio.sleep(0)
            assert fetcher.in_flight == 1
            await fetcher.drain(0.01)
            assert (await waiting).outcome == "stopped"
            assert fetcher.in_flight == 0

    asyncio.run(run())
