"""Byte ranges of a request (RFC 9110, section 14).

Source: RFC 9110, sections 13 and 14. Several ranges at once are answered with the whole file, as
14.2 allows.
"""

from __future__ import annotations

import re
from email.utils import formatdate
from typing import Final

from shared.frozen import frozen

__all__ = ["Asked", "asked_bytes", "http_date"]

_RANGE: Final = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*")


@frozen
class Asked:
    """Bytes [start, end) of a file, and the status of the answer: 200, 206, 304 or 416."""

    status: int
    start: int
    end: int


def http_date(at_ms: int) -> str:
    """Return a moment as header fields write it."""
    return formatdate(at_ms // 1000, usegmt=True)


def asked_bytes(fields: dict[str, str], size_bytes: int, etag: str, changed: str) -> Asked:
    """Return what to send. fields: of the request, names in lower case; etag with its quotes."""
    known = [each.strip().removeprefix("W/") for each in fields.get("if-none-match", "").split(",")]
    if "if-none-match" in fields and (etag in known or "*" in known):
        return Asked(304, 0, 0)
    whole = Asked(200, 0, size_bytes)
    match = _RANGE.fullmatch(fields.get("range", ""))
    if match is None or fields.get("if-range", etag) not in (etag, changed):
        return whole
    first, last = match.groups()
    if not first and not last:
        return whole
    if not first:
        start, end = max(0, size_bytes - int(last)), size_bytes
    else:
        start, end = int(first), min(int(last) + 1 if last else size_bytes, size_bytes)
        if last and int(last) < int(first):
            return whole
    if start >= size_bytes or start >= end:
        return Asked(416, 0, 0)
    return Asked(206, start, end)
