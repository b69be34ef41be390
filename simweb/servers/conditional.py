"""Conditional requests: is the client's copy still good? (RFC 9110, 13.2.2)"""

from __future__ import annotations

from email.utils import parsedate_to_datetime

from simweb.servers.request import Request

__all__ = ["is_current"]


def is_current(request: Request, tag: str, since: int) -> bool:
    """Evaluate If-None-Match, else If-Modified-Since.

    tag: the entity tag without quotes; since: epoch second of the last change.
    """
    match = request.headers.get("if-none-match")
    if match is not None:
        return match.strip() == "*" or f'"{tag}"' in match
    date = request.headers.get("if-modified-since")
    if date is None:
        return False
    try:
        return int(parsedate_to_datetime(date).timestamp()) >= since
    except (ValueError, OverflowError):
        return False
