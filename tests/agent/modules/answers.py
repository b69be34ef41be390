"""Answers of a fetcher, for the tests of both modules that fetch."""

from __future__ import annotations

from agent.pipeline.messages import Outcome
from agent.pipeline.ports import FetchAnswer, FetchRequest
from shared.archive.capture import Capture

URL, HOST, ADDRESS = "http://a.example/x", "http://a.example:80/", "192.0.2.1"


def answer(
    request: FetchRequest,
    outcome: Outcome = "answered",
    status: int = 200,
    body: bytes = b"hello",
    location: str | None = None,
    fields: bytes = b"",
    request_bytes: int = 120,
) -> FetchAnswer:
    """Return an answer, with a capture where there was a header."""
    header = b"HTTP/1.1 %d X\r\n%b\r\n" % (status, fields)
    capture = Capture(request.url, 5, b"", header, body)
    answered = outcome in ("answered", "truncated")
    return FetchAnswer(
        request,
        outcome,
        capture if answered else None,
        status if answered else 0,
        request_bytes,
        500,
        31.5,
        77_000,
        2000.5,
        True,
        location,
        9.0,
        "in other words" if outcome == "tls" else "",
    )
