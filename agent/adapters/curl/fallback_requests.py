"""Second ways to ask for a page whose answer libcurl refuses, and browsers show.

    HTTP1        HTTP/2 failed: a field that it forbids (`upgrade: h2`), a stream that was refused
    TO_THE_END   a Content-Length that is no length (`-1`, two different ones): read until it closes
    TOLERANT     a header that libcurl refuses and browsers read: `raw_request.py` asks

The frontier schedules the second request, so the interval of the address is kept. A fallback is
remembered for its host for an hour: a site costs one request more, not twice as many.
Invariant: within the hour a host's fallback changes only to a later one; all speak HTTP/1.1.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

__all__ = ["REFUSED_BY_BROWSERS", "Fallback", "Fallbacks", "fallback_for"]

REMEMBERED_S: Final = 3600.0
MOST_HOSTS: Final = 4096

REFUSED_BY_BROWSERS: Final = {
    "NUL byte in header": "a NUL byte in the header",
    "Multiple Location headers": "two different Location fields",
}
"""What libcurl says of headers that browsers refuse as well, and what we say."""

_UNSUPPORTED_PROTOCOL: Final = 1
_WEIRD_SERVER_REPLY: Final = 8
_HTTP2: Final = 16
_HTTP2_STREAM: Final = 92
_SYNTAX: Final = (0, _UNSUPPORTED_PROTOCOL, _WEIRD_SERVER_REPLY)
_LENGTH: Final = "Content-Length"  # in libcurl's words for code 8, which stands for much else


class Fallback(Enum):
    """A way to make a request."""

    NONE = "as usual"
    HTTP1 = "over HTTP/1.1"
    TO_THE_END = "without regard to Content-Length"
    TOLERANT = "and read as browsers read it"

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the header fields that such a request adds: only the end tells where it ends."""
        closes = self in (Fallback.TO_THE_END, Fallback.TOLERANT)
        return ("Connection: close",) if closes else ()


def fallback_for(
    code: int,
    message: str,
    *,
    tried: Fallback,
    repeats: bool,
    is_tls: bool,
    is_direct: bool,
    whole_header: bool,
) -> Fallback:
    """Return the way in which a failed request may succeed; NONE: there is no other.

    code, message: libcurl's (CURLE_*). tried: its way so far. repeats: libcurl wanted to repeat
    it; over TLS that may have been HTTP/2: without an answer the protocol is not known.
    whole_header: with a status. is_direct: not through a proxy.
    """
    if whole_header:
        return Fallback.NONE
    if tried is Fallback.NONE and (code in (_HTTP2, _HTTP2_STREAM) or (repeats and is_tls)):
        return Fallback.HTTP1
    is_length = code == _WEIRD_SERVER_REPLY and _LENGTH in message
    if is_length and tried in (Fallback.NONE, Fallback.HTTP1):
        return Fallback.TO_THE_END
    is_syntax = code in _SYNTAX and message not in REFUSED_BY_BROWSERS
    if is_syntax and is_direct and not is_length and tried is not Fallback.TOLERANT:
        return Fallback.TOLERANT
    return Fallback.NONE


class Fallbacks:
    """The hosts that need a fallback, for an hour. Costs other hosts nothing."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Fallback, float]] = {}

    def of(self, host: str, now_s: float) -> Fallback:
        """Return how a host is asked at once."""
        if not self._known:
            return Fallback.NONE
        found, until_s = self._known.get(host, (Fallback.NONE, 0.0))
        if found is not Fallback.NONE and now_s >= until_s:
            del self._known[host]
            return Fallback.NONE
        return found

    def remember(self, host: str, fallback: Fallback, now_s: float) -> None:
        """Take note that a host needs one."""
        if len(self._known) >= MOST_HOSTS:
            self._known.pop(next(iter(self._known)))
        self._known[host] = (fallback, now_s + REMEMBERED_S)
