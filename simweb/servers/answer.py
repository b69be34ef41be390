"""A host's answer to one request, before pacing. Data only."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus

from shared.frozen import frozen

__all__ = ["Answer", "Delivery", "head_bytes", "text_answer"]


@frozen
class Delivery:
    """Ways to send the body; the defaults are an honest server's."""

    hang: bool = False  # never answer
    share: float = 1.0  # of the wire bytes that are sent before the connection ends
    reset: bool = False  # ... by a TCP reset instead of a close
    drip_s: float = 0.0  # spread the wire bytes over so many seconds
    endless: bool = False  # never end, chunk after chunk
    raw: bool = False  # the body is all that is sent: no status line, no headers
    length_error: int = 0  # added to Content-Length


_HONEST = Delivery()


@dataclass(slots=True)
class Answer:
    """A status, headers and body, and how they are delivered."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    chunked: bool = False
    delivery: Delivery = _HONEST
    fault: str = ""  # the kind of trouble, for the log
    retry_after_s: float | None = None
    close: bool = False  # the server wants to close after this answer


def text_answer(
    status: int, text: str = "", headers: list[tuple[str, str]] | None = None, fault: str = ""
) -> Answer:
    """Return a short answer in plain text; by default the words of its status."""
    body = (text or f"{status} {HTTPStatus(status).phrase}\n").encode()
    if status in (204, 304):
        return Answer(status, headers or [], fault=fault)
    content = ("Content-Type", "text/plain; charset=utf-8")
    return Answer(status, [content, *(headers or [])], body, fault=fault)


def head_bytes(answer: Answer, date: str, keep_alive: bool, http_1_0: bool) -> bytes:
    """Return status line and headers. A chunked answer to HTTP/1.0 is ended by closing."""
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}", f"Date: {date}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    if answer.status == 304:
        pass
    elif not answer.chunked:
        lines.append(f"Content-Length: {len(answer.body) + answer.delivery.length_error}")
    elif not http_1_0:
        lines.append("Transfer-Encoding: chunked")
    lines.append(f"Connection: {'keep-alive' if keep_alive else 'close'}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
