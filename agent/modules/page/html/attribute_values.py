"""Reads values of attributes: character references, candidates of a `srcset`, a refresh.

Of a `srcset` all candidates count, also those that a browser would not choose or would drop for an
odd descriptor: a search service may want any of them. A refresh is that of `<meta>` and of the
header field of the same name.
Source: HTML standard, 13.2.5.73 (in an attribute `&copy=` is no reference), 4.8.4.3.4 (parse a
srcset attribute), without judging descriptors, 4.2.5.3 (shared declarative refresh steps).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

__all__ = ["refresh_target", "resolved", "srcset_urls"]

_REFERENCE: Final = re.compile(
    r"&(?:#[xX]?[0-9a-fA-F]{1,12};?|[A-Za-z][A-Za-z0-9]{1,31}(;|(?![A-Za-z0-9=])))"
)
_URL: Final = re.compile(r"[\s,]*+([^\s]++)")
_DESCRIPTORS: Final = re.compile(r"[^,(]*(?:\([^)]*(?:\)|\Z)[^,(]*)*")
_CONTENT: Final = re.compile(
    r"[\t\n\f\r ]*(?:[0-9]+[0-9.]*|\.[0-9.]*)"
    r"(?:$|[\t\n\f\r ]+$|(?=[\t\n\f\r ;,])[\t\n\f\r ]*[;,]?[\t\n\f\r ]*(.*))",
    re.DOTALL,
)
_REFRESH_URL: Final = re.compile(r"[uU][rR][lL][\t\n\f\r ]*=[\t\n\f\r ]*(.*)", re.DOTALL)


def resolved(value: str) -> str:
    """Return what a raw attribute value means."""
    return _REFERENCE.sub(lambda match: html.unescape(match[0]), value) if "&" in value else value


def srcset_urls(value: str) -> Iterator[str]:
    """Yield the URL of each candidate of a `srcset`, as written."""
    at = 0
    while (match := _URL.match(value, at)) is not None:
        at = match.end()
        url = match[1]
        if url.endswith(","):
            yield url.rstrip(",")
            continue
        yield url
        descriptors = _DESCRIPTORS.match(value, at)
        assert descriptors is not None
        at = descriptors.end()


def refresh_target(content: str) -> str | None:
    """Return the URL that a refresh leads to, as written; None: to the page itself, or invalid."""
    match = _CONTENT.match(content)
    if match is None or not match[1]:
        return None
    text = match[1]
    named = _REFRESH_URL.match(text)
    if named is not None:
        text = named[1]
    if text[:1] in ('"', "'"):
        text = text[1:].partition(text[0])[0]
    return text
