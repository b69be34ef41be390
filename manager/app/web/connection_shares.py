"""Eviction of connections near the limit: those of the address that has most.

Else one address that opens thousands keeps everybody out. Idle connections go first, the oldest
before others. Where an address holds more than half of all connections, those go too that wait for
their client (a body that comes in, an answer that is not taken), and at last any. Behind a proxy
all have its address, and it loses none whose request is being answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any, Final, Protocol, cast

__all__ = ["SharedConnection", "make_room"]

FULL: Final = 0.9
"""Share of the connections from which on room is made."""

AT_ONCE: Final = 0.05
"""Share of the connections that is closed each time, so that it is seldom looked for."""


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
