"""Read the head of an HTTP/1.x request. No I/O; bytes in, a request or a reason to refuse out."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from shared.errors import FormatError
from shared.frozen import frozen

__all__ = ["HEAD_LIMIT_BYTES", "Request", "accepts", "read_head"]

HEAD_LIMIT_BYTES = 65_536
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"})


@frozen
class Request:
    """One request; header names are in lower case, a repeated header is joined by `, `."""

    method: str
    target: str  # path and query, as sent
    version: str
    headers: dict[str, str]

    @property
    def host(self) -> str:
        """Return the name in the Host header, without port, in lower case."""
        return self.headers.get("host", "").rpartition("@")[2].split(":")[0].lower().rstrip(".")

    @property
    def path(self) -> str:
        """Return the target without its query."""
        return self.target.partition("?")[0]

    @property
    def user_agent(self) -> str:
        """Return the User-Agent, or an empty text."""
        return self.headers.get("user-agent", "")

    @property
    def keep_alive(self) -> bool:
        """Return whether the client lets the connection stay open."""
        wish = self.headers.get("connection", "").lower()
        return "close" not in wish if self.version == "HTTP/1.1" else "keep-alive" in wish

    @property
    def body_bytes(self) -> int:
        """Return the length of the body that follows. Raises FormatError for an unclear one."""
        if "transfer-encoding" in self.headers:
            raise FormatError("a request body with Transfer-Encoding: send none, or Content-Length")
        length = self.headers.get("content-length", "0")
        if not length.isdigit() or len(length) > 9:
            raise FormatError(f"Content-Length {length[:20]!r}: not a number of up to 9 digits")
        return int(length)

    def has_current(self, tag: str, since: int) -> bool:
        """Return whether the client's copy is still good: If-None-Match, else If-Modified-Since.

        tag: the entity tag without quotes; since: epoch second of the last change. Source:
        RFC 9110, 13.2.2.
        """
        match = self.headers.get("if-none-match")
        if match is not None:
            return match.strip() == "*" or f'"{tag}"' in match
        date = self.headers.get("if-modified-since")
        if date is None:
            return False
        try:
            return int(parsedate_to_datetime(date).timestamp()) >= since
        except (ValueError, OverflowError):
            return False


def read_head(head: bytes) -> Request:
    """Read a head without its final empty line. Raises FormatError."""
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or parts[0] not in _METHODS or parts[2] not in ("HTTP/1.1", "HTTP/1.0"):
        raise FormatError(f"request line {first[:80]!r}: not METHOD TARGET HTTP/1.1")
    method, target, version = parts
    if any(char <= " " or char == "\x7f" for char in target):
        raise FormatError(f"request target {target[:80]!r}: control characters")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise FormatError(f"header line {line[:80]!r}: not NAME: VALUE")
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    if not target.startswith("/"):
        target = _origin_form(target, headers)
    return Request(method, target, version, headers)


def _origin_form(target: str, headers: dict[str, str]) -> str:
    """Accept the absolute form that proxies are sent (RFC 9112, 3.2.2); its host wins."""
    parts = urlsplit(target)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise FormatError(f"request target {target[:80]!r}: not a path")
    headers["host"] = parts.netloc
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def accepts(header: str, coding: str) -> bool:
    """Return whether an Accept-Encoding allows a coding; absent means identity only."""
    for item in header.lower().split(","):
        name, _, weight = item.partition(";")
        if name.strip() in (coding, "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
