"""Priority of URLs in a job: the front queues of Mercator.

Within a level URLs are fetched in the order in which they were found, so breadth first.
Source: seed 002 (Mercator: FIFO queues by priority in front, one host's queues behind).
"""

from __future__ import annotations

from typing import Final

from agent.pipeline.ledger import LEVELS

__all__ = ["level_of"]

NEAR: Final = 1  # links from the top page
FAR: Final = 10  # beyond it are archives, calendars, traps

TOP, PLAIN, QUERY, DEEP = range(LEVELS)


def level_of(url: str, depth: int, redirects: int) -> int:
    """Return the level of a canonical URL: 0 is worked off first.

    0  pages that the list names, what a redirect leads to, what the top page links
    1  all other pages
    2  pages with a query: one page may hide behind a thousand of them
    3  pages that are far from the top page
    """
    if not depth or redirects:
        return TOP
    if depth > FAR:
        return DEEP
    if "?" in url:
        return QUERY
    return TOP if depth <= NEAR else PLAIN
