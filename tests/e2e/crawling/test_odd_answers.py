"""The 85 responses of llhttp's tests: what each is for us, and that the archive holds its bytes.

Where llhttp is stricter, we keep what came: bare line feeds, a tab in the status line, a space in a
field's name, a fold behind the status line. Where libcurl is stricter than browsers, the bytes are
read by ourselves (ADR 194): an empty line before the status line, a bare carriage return.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re

import pytest

from agent.pipeline.messages.requests import FetchAnswer
from shared.archive.encode import encode_capture
from shared.archive.reader import read_capture
from tests.e2e.crawling.test_fetch import HELLO, fetching, get
from tests.e2e.raw_server import RawServer
from tests.fixtures_dir import fixture_folder

pytestmark = pytest.mark.e2e

Row = tuple[str, int, bytes, bytes]  # outcome, status, and what is kept: header, body

REST = b"(all that follows the header)"
EMPTY_LINE = re.compile(rb"\n\r?\n")
EARLY_HINTS = b"HTTP/1.1 103 "

KEPT: dict[tuple[str, int, bytes], tuple[str, ...]] = {
    ("answered", 200, REST): (  # up to the end of the connection
        "connection: HTTP/1.0 with keep-alive and EOF-terminated 200 status",
        "connection: HTTP/1.1 with EOF-terminated 200 status",
        "connection: HTTP 200 response with Upgrade header",
        "connection: HTTP 200 response with Upgrade header and Content-Length",
        "connection: Proxy-Connection",
        "content-length: Response without `Content-Length`, but with body",
        "invalid: Only LFs present",
        "invalid: Only LFs present (lenient)",
        "invalid: Only LFs present and no body",
        "invalid: Only LFs present and no body (lenient)",
        *(f"pausing: on_message_{what}" for what in ("begin", "complete")),
        *(f"pausing: on_{what}_complete" for what in ("version", "status", "headers")),
        *(f"pausing: on_header_{what}_complete" for what in ("field", "value")),
        "sample: No carriage ret",
        "sample: No carriage ret (lenient)",
        "sample: No Content-Length, no Transfer-Encoding",
        "sample: Spaces in header name",
    ),
    ("answered", 200, b"2ad73"): (  # as long as it says; what follows is nobody's
        "connection: HTTP/1.1 with keep-alive disabled, content-length",
        "connection: HTTP/1.1 with keep-alive disabled, content-length (lenient)",
    ),
    ("answered", 200, b"AAA"): ("pipelining: Should parse multiple events",),
    ("answered", 204, b""): (  # has no body, whatever follows
        "connection: HTTP/1.0 with keep-alive and 204 status",
        "connection: HTTP/1.1 with 204 status",
        "connection: HTTP/1.1 with keep-alive disabled and 204 status",
        "connection: HTTP/1.1 with keep-alive disabled and 204 status (lenient)",
    ),
    ("answered", 304, b""): (
        "connection: HTTP 304 with Content-Length",
        "connection: HTTP 304 with Transfer-Encoding",
    ),
    ("answered", 101, REST): (  # another protocol, as it came: no length or encoding holds for it
        "connection: HTTP 101 response with Upgrade and Content-Length header",
        "connection: HTTP 101 response with Upgrade and Transfer-Encoding header",
    ),
    # Shorter than announced, because the collection lost the last line end of each message.
    ("truncated", 200, REST): (
        "connection: HTTP 103 first, then 200",
        "content-length: Content-Length reset when no body is received",
    ),
    ("truncated", 301, REST): ("sample: Google 301",),
    ("truncated", 301, b"\n"): ("sample: amazon.com",),
    ("truncated", 200, b"body"): (
        "connection: HTTP 200 response with Upgrade header and Transfer-Encoding",
    ),
    ("truncated", 200, b"OK"): ("content-length: Content-Length-X",),
    ("truncated", 200, b"0123456789"): (
        "pausing: on_chunk_header",
        "pausing: on_chunk_extension_name",
        "pausing: on_chunk_extension_value",
        "pausing: on_chunk_complete",
    ),
    ("truncated", 200, b"hello world"): (
        "transfer-encoding: Chunk extensions",
        "transfer-encoding: Chunk extensions quoting",
        "transfer-encoding: Unbalanced chunk extensions quoting",
    ),
    ("truncated", 200, b"aa"): (
        "transfer-encoding: No semicolon before chunk extensions",
        "transfer-encoding: No extension after semicolon",
    ),
    (
        "truncated",
        200,
        b"This is the data in the first chunk\r\nand this is the second one\r\n",
    ): ("transfer-encoding: Trailing space on chunked body",),
    ("truncated", 200, b""): (
        "sample: Spaces in header value",
        # The body is no chunk.
        "transfer-encoding: multiple transfer-encoding where chunked is not the last one",
    ),
}

ENDED: dict[tuple[str, int], tuple[str, ...]] = {
    ("answered", 200): (
        "finish: It should be safe to finish with cb after empty response",
        "invalid: Tab after HTTP version",
        "invalid: Invalid space after start line",
        "invalid: Extra space between status code and reason",
        "sample: Simple response",
        "sample: Empty body should not trigger spurious span callbacks",
        "sample: Empty reason phrase after space",
        "sample: Underscore in header key",
    ),
    ("answered", 301): ("sample: No reason phrase", "sample: bonjourmadame.fr"),
    ("answered", 404): ("sample: No headers and no body",),
    ("answered", 500): ("sample: Non ASCII in status line",),
    ("truncated", 200): ("content-length: Tabs in `Content-Length` (surrounding)",),
}
"""Headers that break off before their empty line, and what they are with it; no body follows."""

MALFORMED = (
    "invalid: Incomplete HTTP protocol",
    "sample: RTSP response",
    "sample: ICE response",
    # A transfer encoding other than chunked, or one behind it.
    "transfer-encoding: `chunked` before other transfer-encoding",
    "transfer-encoding: `chunkedchunked` transfer-encoding does not enable chunked enconding",
    "transfer-encoding: Invalid OBS fold after chunked value",
)

TOLERATED = (
    "sample: Response starting with CRLF",
    "invalid: Headers separated by CR",
    "invalid: Bare CR after response line",
    "invalid: Bare CR after response line (lenient)",
    "invalid: CR before response and tab after HTTP version",
    "sample: Error on invalid response start",
    "sample: HTTP version 0.9",
    "invalid: Invalid HTTP version",
    "lenient-version: Invalid HTTP version (lenient)",
    "invalid: Extra digit in HTTP major version",
    "invalid: Extra digit in HTTP major version #2",
    "invalid: Extra digit in HTTP minor version",
    "invalid: Extra space between HTTP version and status code",
)
"""Headers that libcurl refuses, which break off as well; whole, they are read by ourselves."""

TOLERATED_WHOLE = (
    "connection: HTTP 100 first, then 400",  # and an empty line between them
    "invalid: Bare CR followed by CR after response line",
)
ONE_DIGIT = "invalid: One-digit status code"


def responses() -> dict[str, bytes]:
    """Return all responses by name."""
    found = json.loads((fixture_folder("http1-llhttp") / "cases.json").read_text())
    return {
        f"{row['file']}: {row['name']}": base64.b64decode(row["input_b64"])
        for row in found
        if row["kind"] == "response"
    }


def parts(reply: bytes) -> tuple[bytes, bytes]:
    """Return the header of the final answer with its empty line, and what follows."""
    end = header_end(reply)
    if reply.startswith(EARLY_HINTS):
        return parts(reply[end:])
    return reply[:end], reply[end:]


def header_end(reply: bytes) -> int:
    """Return where the empty line ends."""
    match = EMPTY_LINE.search(reply)
    assert match is not None
    return match.end()


def outcome(answer: FetchAnswer) -> Row:
    """Return what became of an answer, as a reader of the archive sees it."""
    if answer.capture is None:
        return answer.outcome, answer.status, b"", b""
    stored = read_capture(io.BytesIO(encode_capture(answer.capture).data), 0)
    return answer.outcome, answer.status, stored.response_header, stored.body


def outcomes(replies: dict[str, bytes]) -> dict[str, Row]:
    """Fetch each reply from a server of its own, and behind it a page that is in order."""

    async def run() -> dict[str, Row]:
        found: dict[str, Row] = {}
        async with RawServer(HELLO, address="127.0.0.2") as good, fetching() as fetcher:
            for name, reply in replies.items():
                async with RawServer(reply, close=True) as odd:
                    found[name] = outcome(await get(fetcher, odd.url()))
                healthy = await get(fetcher, good.url(), address="127.0.0.2")
                assert healthy.outcome == "answered", name
        return found

    return asyncio.run(run())


def differing(found: dict[str, Row], expected: dict[str, Row]) -> dict[str, tuple[object, object]]:
    """Return the rows that are not as expected, or that one of the two lacks."""
    names = found.keys() | expected.keys()
    pairs = {name: (found.get(name), expected.get(name)) for name in sorted(names)}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def test_each_odd_answer_has_its_outcome_and_its_bytes() -> None:
    """Header and body are kept as they came, without chunks; and the next page is fetched."""
    replies = responses()
    expected: dict[str, Row] = dict.fromkeys(MALFORMED, ("malformed", 0, b"", b""))
    for names in (*ENDED.values(), TOLERATED, (ONE_DIGIT,)):
        expected |= dict.fromkeys(names, ("disconnected", 0, b"", b""))
    for name in TOLERATED_WHOLE:
        header, body = parts(replies[name])
        if header.startswith(b"HTTP/1.1 100"):
            header, body = parts(body.lstrip(b"\r\n"))
        expected[name] = "answered", 404 if b"404" in header else 200, header, body
    for (word, status, body), names in KEPT.items():
        for name in names:
            header, rest = parts(replies[name])
            expected[name] = word, status, header, rest if body is REST else body
    assert len(expected) == 85
    assert differing(outcomes(replies), expected) == {}


def test_each_header_that_broke_off_has_its_outcome_when_it_ends() -> None:
    """With the empty line the odd header itself is tried, not only that it is unfinished."""
    replies = {
        name: reply.removesuffix(b"\r\n") + b"\r\n\r\n"
        for name, reply in responses().items()
        if not EMPTY_LINE.search(reply)
    }
    expected: dict[str, Row] = {
        name: ("malformed", 0, b"", b"") for name in (*MALFORMED, ONE_DIGIT) if name in replies
    }
    for name in TOLERATED:
        start = replies[name].index(b"HTTP")
        expected[name] = "answered", 200, replies[name][start:], b""
    for (word, status), names in ENDED.items():
        for name in names:
            header = replies[name] if status else b""
            expected[name] = word, status, header, b""
    assert differing(outcomes(replies), expected) == {}
