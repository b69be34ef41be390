"""Shares of one address: of the connections, and of the turns at the event loop.

Near the limit of connections those of the address that has most are closed: else one that opens
thousands keeps everybody out. Idle connections go first, the oldest before others. Where an address
holds more than half of all, those go too that wait for their client (a body that comes in, an
answer that is not taken), and at last any. Behind a proxy all have its address, and it loses none
whose request is being answered.

A request runs on the event loop until it waits for something. Without turns the requests of a
thousand connections all run before anybody else's next step. So of one address a few begin in each
round of the loop, and the others wait in the order in which they came. Nothing is held: a request
that has begun gives its turn back at once, however long it takes.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Collection
from typing import Any, Final, Protocol, cast

__all__ = ["REQUESTS_PER_ROUND", "RequestTurns", "SharedConnection", "make_room"]

FULL: Final = 0.9
"""Share of the connections from which on room is made."""

AT_ONCE: Final = 0.05
"""Share of the connections that is closed each time, so that it is seldom looked for."""


REQUESTS_PER_ROUND: Final = 4
"""Requests of one address that begin in one round of the event loop. A round without other work
takes some 20 microseconds, so an idle loop delays no request."""


class SharedConnection(Protocol):
    """A connection that may be given back. since_s: when it began."""

    since_s: float

    @property
    def address(self) -> str: ...
    @property
    def is_idle(self) -> bool: ...
    @property
    def is_receiving(self) -> bool: ...
    def give_back(self) -> None: ...


def make_room(connections: Collection[Any], most: int, keeps_whole: bool = False) -> int:
    """Close connections where there are nearly as many as may be; return how many.

    connections: `SharedConnection`s, as uvicorn keeps them. keeps_whole: an address may be a
    proxy's: close none whose request is being answered.
    """
    if len(connections) < FULL * most:
        return 0
    shared = [cast("SharedConnection", one) for one in connections]
    (address, count), *_ = Counter(one.address for one in shared).most_common(1)
    theirs = sorted((one for one in shared if one.address == address), key=lambda one: one.since_s)
    wanted = max(1, int(AT_ONCE * most))
    closed = [one for one in theirs if one.is_idle][:wanted]
    if not closed and count > most / 2:
        closed = [one for one in theirs if one.is_receiving][:wanted]
        if not closed and not keeps_whole:
            closed = theirs[:wanted]
    for one in closed:
        one.give_back()
    return len(closed)


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
