"""Sites that answer a byte a second, after the header or from the first byte on.

Their robots.txt comes at once: a crawl asks for one that does not come for minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.hostile.traps import Site, page_of

__all__ = ["BYTE_S", "bytes_at_once", "slow_sites"]

BYTE_S: Final = 1.0
_BODY: Final = "slow body"
_NAMES: Final = (_BODY, "slow header")


def slow_sites() -> Iterator[tuple[str, Site]]:
    """Yield (name, site) of each; a site has one page."""
    answer = page_of("<title>slow</title>" + "<p>slow</p>" * 100)
    for name in _NAMES:
        yield name, lambda target: answer


def bytes_at_once(name: str, target: str, answer: bytes) -> int:
    """Return how much of an answer comes at once; the rest comes a byte a second."""
    if name not in _NAMES or target == "/robots.txt":
        return len(answer)
    return answer.index(b"\r\n\r\n") + 4 if name == _BODY else 0
