"""Reads `<meta http-equiv=refresh content=...>` and the header field of the same name.

Source: HTML standard, 4.2.5.3 (shared declarative refresh steps).
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["refresh_target"]

_CONTENT: Final = re.compile(
    r"[\t\n\f\r ]*(?:[0-9]+[0-9.]*|\.[0-9.]*)"
    r"(?:$|[\t\n\f\r ]+$|(?=[\t\n\f\r ;,])[\t\n\f\r ]*[;,]?[\t\n\f\r ]*(.*))",
    re.DOTALL,
)
_URL: Final = re.compile(r"[uU][rR][lL][\t\n\f\r ]*=[\t\n\f\r ]*(.*)", re.DOTALL)


def refresh_target(content: str) -> str | None:
    """Return the URL that a refresh leads to, as written; None: to the page itself, or invalid."""
    match = _CONTENT.match(content)
    if match is None or not match[1]:
        return None
    text = match[1]
    named = _URL.match(text)
    if named is not None:
        text = named[1]
    if text[:1] in ('"', "'"):
        text = text[1:].partition(text[0])[0]
    return text
