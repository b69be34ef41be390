"""Answers that break a rule of HTTP and that browsers show all the same."""

from __future__ import annotations

import asyncio
import gzip
import io

import pytest

from agent.pipeline.messages.requests import FetchAnswer
from shared.archive.encode import encode_capture
from shared.archive.reader import read_capture
from tests.e2e.crawling.test_fetch import fetching, get
from tests.e2e.raw_server import RawServer

pytestmark = pytest.mark.e2e

START = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def twice(reply: bytes) -> tuple[list[FetchAnswer], list[bytes]]:
    """Fetch two pages from a server that closes behind each; return what it was asked, too."""

    async def run() -> tuple[list[FetchAnswer], list[bytes]]:
        async with RawServer(reply, close=True) as server, fetching() as fetcher:
            answers = [await get(fetcher, server.url(path)) for path in ("/a", "/b")]
            return answers, server.requests

    return asyncio.run(run())


@pytest.mark.parametrize(
    "lengths",
    [
        *(["-1"], ["-100000000000000000000"], ["abc"], ["5x"], ["0x5"], [""], ["+5"]),
        *(["4", "9"], ["9", "4"], ["4, 9"]),
    ],
)
def test_a_length_that_is_none_is_passed_over(lengths: list[str]) -> None:
    """The page is read to the end of the connection; the host is remembered for the next one."""
    fields = "".join(f"Content-Length: {length}\r\n" for length in lengths).encode()
    answers, requests = twice(START + fields + b"\r\nall of it")
    for answer in answers:
        assert (answer.outcome, answer.status, answer.kept_alive) == ("answered", 200, False)
        assert answer.capture is not None
        assert answer.capture.body == b"all of it"
        assert answer.capture.response_header == START + fields + b"\r\n"
    assert [request.split()[1] for request in requests] == [b"/a", b"/a", b"/b"]
    assert answers[-1].capture is not None
    assert answers[-1].capture.request == requests[-1]
    assert b"\r\nConnection: close\r\n" in requests[-1]


@pytest.mark.parametrize(
    "fields", [b"Content-Length: 5\r\nContent-Length: 5\r\n", b"Content-Length: 5, 5\r\n"]
)
def test_equal_lengths_are_one(fields: bytes) -> None:
    """They say the same, and the request is the usual one."""
    answers, requests = twice(START + fields + b"\r\nhello")
    assert [answer.outcome for answer in answers] == ["answered"] * 2
    assert len(requests) == 2


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        (b"/\xc6\xfc\xcb\xdc/\xa4\xa2.html", "/%C6%FC%CB%DC/%A4%A2.html"),  # EUC-JP
        (b"/\x93\xfa\x96{?q=\x93\xfa", "/%93%FA%96{?q=%93%FA"),  # Shift_JIS
        (b"/\xe6\x97\xa5?q=\xe6\x97\xa5", "/%E6%97%A5?q=%E6%97%A5"),  # UTF-8
        (b"/caf\xe9/%20x", "/caf%E9/%20x"),
    ],
)
def test_each_byte_of_a_location_is_escaped_as_it_is(location: bytes, expected: str) -> None:
    """Whatever encoding the server wrote it in, it gets its own bytes back."""
    answers, _ = twice(
        b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"
    )
    assert answers[0].location == expected


def test_fields_with_raw_bytes_are_stored_as_they_came() -> None:
    """Bytes beyond ASCII in a header, in any encoding and in none."""
    header = START + b"X-Name: caf\xe9 \xa4\xa2\xff \xe6\x97\xa5\r\nSet-Cookie: a=\x93\xfa\r\n"
    answers, _ = twice(header + b"Content-Length: 2\r\n\r\nhi")
    capture = answers[0].capture
    assert capture is not None
    assert capture.response_header == header + b"Content-Length: 2\r\n\r\n"
    read = read_capture(io.BytesIO(encode_capture(capture).data), 0)
    assert read.response_header == capture.response_header


@pytest.mark.parametrize(
    ("sent", "joined"),
    [
        (b"X-A: one\r\n  two\r\n\tthree\r\n", b"X-A: one two three\r\n"),
        (b"X-A:\r\n one\r\n", b"X-A: one\r\n"),
        (b"Link: </a>;\r\n rel=next\r\n", b"Link: </a>; rel=next\r\n"),
        (b"Set-Cookie: a=1;\r\n\tPath=/\r\n", b"Set-Cookie: a=1; Path=/\r\n"),
    ],
)
def test_folded_lines_come_joined(sent: bytes, joined: bytes) -> None:
    """libcurl does it before anybody sees them; no value means anything else by it (ADR 186)."""
    answers, _ = twice(START + sent + b"Content-Length: 2\r\n\r\nhi")
    capture = answers[0].capture
    assert capture is not None
    assert capture.response_header == START + joined + b"Content-Length: 2\r\n\r\n"
    stored = gzip.decompress(encode_capture(capture).data)
    assert joined in stored
    assert b"X-Crawl-Header" not in stored


def test_a_fold_that_is_not_joined_is_kept_as_it_came() -> None:
    """One behind the status line: cleaned for other readers, and whole beside it."""
    header = b"HTTP/1.1 200 OK\r\n folded: line\r\nContent-Length: 2\r\n\r\n"
    answers, _ = twice(header + b"hi")
    capture = answers[0].capture
    assert capture is not None
    assert capture.response_header == header
    data = encode_capture(capture).data
    assert b"\r\nX-Crawl-Header: HTTP/1.1 200 OK%0D%0A folded:" in gzip.decompress(data)
    assert read_capture(io.BytesIO(data), 0).response_header == header


def test_a_folded_location_leads_on() -> None:
    """The joined value is what is asked for."""
    moved = b"HTTP/1.1 302 Found\r\nLocation:\r\n /there\r\nContent-Length: 0\r\n\r\n"
    answers, _ = twice(moved)
    assert answers[0].location == "/there"
