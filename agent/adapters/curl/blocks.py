"""Header blocks: the one that is sent, and the ones that came.

Pure. The request is built here as libcurl builds it, because asking libcurl to tell what it sends
costs thirty calls a request; a test against a real socket holds the two together. Of an answer
libcurl gives the lines as received, except that it joins folded ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.adapters.curl.fallback_requests import Fallback
from agent.pipeline.messages.pages import Earlier
from agent.pipeline.messages.requests import FetchRequest
from shared.archive.http_block import header_value, header_values, status_code
from shared.frozen import frozen
from shared.retry_after import retry_after_s as shared_retry_after_s
from shared.urls import DEFAULT_PORTS, escaped_bytes, split_host

__all__ = [
    "Answer",
    "Site",
    "conditions",
    "own_fields",
    "read_answer",
    "request_block",
    "retry_after_s",
    "site_of",
    "stays_open",
]

MAX_RETRY_AFTER_S: Final = 10 * 365 * 86400.0
_MAY_SAY_LATER: Final = frozenset({408, 413, 425, 429, *range(500, 600)} - {501, 505})
_REDIRECTS: Final = (301, 302, 303, 307, 308)


@frozen
class Answer:
    """The header of an answer, as received; informational answers before it are left out.

    whole: its empty line came. status: 0 where the status line has none.
    """

    header: bytes
    whole: bool
    status: int
    location: str | None


@frozen
class Site:
    """A host as requests name it. host: its key; lines: of the header, with the empty one."""

    host: str
    lines: bytes


def site_of(origin: str, fields: Sequence[str]) -> Site:
    """Return what all requests to a host have in common.

    origin: a canonical URL up to its path. The port stands in Host only where it is not the
    scheme's. fields: of every request.
    """
    scheme, name, port = split_host(origin)
    shown = name if DEFAULT_PORTS[scheme] == port else f"{name}:{port}"
    lines = "\r\n".join((f"Host: {shown}", *fields, "", ""))
    return Site(f"{scheme}://{name}:{port}/", lines.encode("latin-1"))


def conditions(earlier: Earlier | None) -> tuple[str, ...]:
    """Return the header field by which a server can say that an earlier capture still holds.

    Source: RFC 9110, 13.2.2: a server that knows ETags does not look at dates.
    """
    if earlier is None:
        return ()
    if earlier.etag:
        return (f"If-None-Match: {earlier.etag}",)
    return (f"If-Modified-Since: {earlier.modified}",) if earlier.modified else ()


def own_fields(request: FetchRequest, fallback: Fallback) -> tuple[str, ...]:
    """Return the header fields of this request only, for a way of asking."""
    more = () if request.earlier is None else conditions(request.earlier)
    if request.cookies:
        more = (*more, f"Cookie: {request.cookies}")
    return more if fallback is Fallback.NONE else (*more, *fallback.fields)


def request_block(
    url: str,
    site: Site,
    *,
    version: bytes = b"1.1",
    by_proxy: bool = False,
    more: Sequence[str] = (),
) -> bytes:
    """Return the request for a canonical URL as it goes over the wire.

    by_proxy: a proxy is asked for a whole http URL; https goes through a tunnel instead.
    more: fields of this request alone, behind those of all.
    """
    target = url if by_proxy and url.startswith("http:") else url[url.index("/", 8) :]
    lines = site.lines
    if more:
        lines = b"%b%b\r\n\r\n" % (lines[:-2], "\r\n".join(more).encode("latin-1"))
    return b"GET %b HTTP/%b\r\n%b" % (target.encode("latin-1"), version, lines)


def read_answer(lines: Sequence[bytes]) -> Answer:
    """Return the final answer among header lines as received, trailers included.

    Informational answers (1xx) come before it, trailers of a chunked body behind it.
    """
    if lines and lines[-1] == b"\r\n" and lines.index(b"\r\n") == len(lines) - 1:
        header = b"".join(lines)
        status = status_code(header) or 0
        if status >= 200 and b"\n" not in lines:  # one block and nothing else: nearly always
            return Answer(header, True, status, _location(header, status))
    block: list[bytes] = []
    for line in lines:
        block.append(line)
        if line in (b"\r\n", b"\n"):
            header = b"".join(block)
            status = status_code(header) or 0
            if not 100 <= status <= 199 or status == 101:
                return Answer(header, True, status, _location(header, status))
            block.clear()
    header = b"".join(block)
    return Answer(header, False, status_code(header) or 0, None)


def stays_open(header: bytes) -> bool:
    """Return whether the server keeps the connection for another request."""
    lowered = header.lower()
    if b"\nconnection" not in lowered:
        options = b""
    elif b"\nconnection: keep-alive\r\n" in lowered:  # nearly always, if the field is present
        options = b"keep-alive" if lowered.count(b"\nconnection") == 1 else _options(header)
    else:
        options = _options(header)
    if options == b"keep-alive":
        return True
    words = {word.strip() for word in options.split(b",")}
    if header.startswith(b"HTTP/1.0"):
        return b"keep-alive" in words
    return b"close" not in words


def _options(header: bytes) -> bytes:
    return (header_value(header, "Connection") or b"").lower()


def retry_after_s(header: bytes, status: int, epoch_ms: int) -> float | None:
    """Return how long a server asks to be left alone; None where it does not, readably.

    Only a server that is busy or broken, finds a request too large, or sends us elsewhere can ask
    for it. Source: RFC 9110, 10.2.3 and 15.5.14; RFC 6585, 4.
    """
    if status not in _MAY_SAY_LATER and not 300 <= status <= 399:
        return None
    values = [value.decode("latin-1") for value in header_values(header, "Retry-After")]
    if not values:
        return None
    date = header_value(header, "Date")
    date_text = date.decode("latin-1") if date else None
    wait_s = shared_retry_after_s(values, date_text, epoch_ms / 1000)
    return None if wait_s is None else min(wait_s, MAX_RETRY_AFTER_S)


def _location(header: bytes, status: int) -> str | None:
    if status not in _REDIRECTS:
        return None
    value = header_value(header, "Location")
    return escaped_bytes(value) if value else None
