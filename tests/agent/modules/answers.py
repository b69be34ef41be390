"""Messages that many tests need: answers of a fetcher, and pages that lie in a segment."""

from __future__ import annotations

from agent.pipeline.messages.pages import Processed
from agent.pipeline.messages.requests import Due, FetchAnswer, FetchRequest, Outcome
from agent.pipeline.messages.robots import RulesDue
from shared.archive.capture import Capture
from shared.archive.encode import encode_capture
from shared.wire.orders import OrderKind

URL, HOST, ADDRESS = "http://a.example/x", "http://a.example:80/", "192.0.2.1"
HEADER = b"HTTP/1.1 200 OK\r\n\r\n"


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


def due_of(
    url: str = URL,
    host: str = HOST,
    address: str = ADDRESS,
    job: int = 1,
    round_number: int = 1,
    kind: OrderKind = "crawl",
) -> Due:
    """Return a turn."""
    return Due(url, host, address, job, 1, 0, None, 1, round_number, kind)


def ended(
    due: Due | RulesDue | None = None,
    outcome: Outcome = "answered",
    status: int = 200,
    *,
    request_bytes: int = 9,
    response_bytes: int = 9,
    elapsed_ms: float = 1.0,
    ended_s: float = 5.0,
    retry_after_s: float | None = None,
    kept_alive: bool = False,
    connect_ms: float = 0.0,
    first_byte_ms: float = 0.0,
    header: bytes = HEADER,
) -> FetchAnswer:
    """Return how a turn's request ended. header: empty where none came."""
    due = due or due_of()
    rules = isinstance(due, RulesDue)
    capture = Capture(due.url, 7, b"", header, b"<p>") if header else None
    return FetchAnswer(
        FetchRequest(due.url, due.address, 1000, rules=rules, due=due),
        outcome,
        capture,
        status,
        request_bytes,
        response_bytes,
        elapsed_ms,
        7,
        ended_s,
        kept_alive,
        retry_after_s=retry_after_s,
        connect_ms=connect_ms,
        first_byte_ms=first_byte_ms,
    )


def kept(url: str = URL, host: str = HOST, address: str = ADDRESS, job: int = 1) -> Processed:
    """Return a page that lies in a segment; job: 0, it is a robots.txt."""
    encoded = encode_capture(Capture(url, 7, b"", HEADER, b"<p>"))
    return Processed(encoded, url, host, address, job, is_rules=job == 0)
