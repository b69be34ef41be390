"""Turns of addresses at the event loop: one that asks a thousand things at once has a few a round.

A request runs on the event loop until it waits for something. Without turns the requests of a
thousand connections all run before anybody else's next step. So of one address a few begin in each
round of the loop, and the others wait in the order in which they came. Nothing is held: a request
that has begun gives its turn back at once, however long it takes.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Final

__all__ = ["REQUESTS_PER_ROUND", "RequestTurns"]

REQUESTS_PER_ROUND: Final = 4
"""Requests of one address that begin in one round of the event loop. A round without other work
takes some 20 microseconds, so an idle loop delays no request."""


class RequestTurns:
    """The requests of one listener that wait for their turn. Used on the loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._begun: Counter[str] = Counter()  # by address, in this round
        self._waiting: dict[str, deque[Callable[[], None]]] = {}  # by address
        self._planned = False  # that a round ends

    def take(self, address: str, begin: Callable[[], None]) -> None:
        """Call `begin` now, or in one of the next rounds."""
        if self._begun[address] < REQUESTS_PER_ROUND and address not in self._waiting:
            self._begun[address] += 1
            begin()
        else:
            self._waiting.setdefault(address, deque()).append(begin)
        self._plan()

    def _plan(self) -> None:
        if not self._planned:
            self._planned = True
            self._loop.call_soon(self._next_round)

    def _next_round(self) -> None:
        self._planned = False
        self._begun.clear()
        for address, waiting in list(self._waiting.items()):
            for _ in range(min(REQUESTS_PER_ROUND, len(waiting))):
                self._begun[address] += 1
                waiting.popleft()()
            if not waiting:
                del self._waiting[address]
        if self._begun:
            self._plan()
