"""Reads a `srcset`: the candidate images of an element.

All candidates count, also those that a browser would not choose or would drop for an odd
descriptor: a search service may want any of them.
Source: HTML standard, 4.8.4.3.4 (parse a srcset attribute), without judging descriptors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["srcset_urls"]

_URL: Final = re.compile(r"[\s,]*+([^\s]++)")
_DESCRIPTORS: Final = re.compile(r"[^,(]*(?:\([^)]*(?:\)|\Z)[^,(]*)*")


def srcset_urls(value: str) -> Iterator[str]:
    """Yield the URL of each candidate, as written."""
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
