"""Random draw of pages from a log, so that another agent may fetch them again.

Each line of a crawl or of a probe gets an unpredictable number; the lines with the lowest numbers
are drawn. So the lowest numbers of many logs together are an even draw from all of them. Memory
grows with the kept lines only. Lines that prove nothing at another moment, and robots.txt, are left
out.
"""

from __future__ import annotations

import heapq
import random
import secrets
from collections.abc import Iterator
from itertools import count
from typing import Final

import numpy as np

from manager.assignment.refetch_rules import DrawnPage, is_comparable
from shared.wire.orders import OrderKind

__all__ = ["Draw"]

RANKS: Final = 2**62
URL_CHARS: Final = 2083
"""What every agent takes, and a line of a list has room for."""


class Draw:
    """Keeps the lines with the lowest numbers."""

    def __init__(self, most: int, kind: OrderKind = "crawl") -> None:
        """most: lines; 0 draws none. kind: of the lines."""
        self._most = most
        self._kind = kind
        self._chance = random.Random(secrets.randbits(128))  # noqa: S311  # seeded by the system
        self._many = np.random.default_rng(secrets.randbits(128))
        # A heap, the highest rank first; of one rank the first drawn. Pages have no order.
        self._kept: list[tuple[int, int, DrawnPage]] = []
        self._entered = count()

    def chosen(self, count: int) -> Iterator[tuple[int, int]]:
        """Yield (place, number) of those of so many lines of crawls that might be drawn.

        The lowest number first, as long as one so low would be drawn: the caller enters each
        before it asks for the next.
        """
        if not self._most:
            return
        ranks = self._many.integers(0, RANKS, count)
        places = np.flatnonzero(ranks < self._limit())
        for place in places[np.argsort(ranks[places])].tolist():
            rank = int(ranks[place])
            if rank >= self._limit():
                return
            yield place, rank

    def _limit(self) -> int:
        """Return the number that one must be below to be drawn."""
        return -self._kept[0][0] if len(self._kept) >= self._most else RANKS

    def offer(
        self, unit: str, number: int, url: str, status: int | None, response_bytes: int
    ) -> None:
        """Take a line of a crawl into the draw."""
        self.enter(self._chance.randrange(RANKS), unit, number, url, status, response_bytes)

    def enter(
        self, rank: int, unit: str, number: int, url: str, status: int | None, response_bytes: int
    ) -> None:
        """Take a line that `chosen` gave a number to."""
        if not self._most or rank >= self._limit():
            return
        if len(url) > URL_CHARS or not is_comparable(status) or url.endswith("/robots.txt"):
            return
        page = DrawnPage(
            round=number,
            unit=unit,
            url=url,
            rank=rank,
            status=status,
            response_bytes=response_bytes,
            kind=self._kind,
        )
        entry = (-rank, -next(self._entered), page)
        if len(self._kept) >= self._most:
            heapq.heapreplace(self._kept, entry)
        else:
            heapq.heappush(self._kept, entry)

    def result(self) -> tuple[DrawnPage, ...]:
        """Return the drawn pages, the lowest number first."""
        return tuple(page for *_, page in sorted(self._kept, reverse=True))
