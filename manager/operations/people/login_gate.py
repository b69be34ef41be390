"""The gate to password checks: few at a time, few from one source, and no waiting in threads.

A check takes a tenth of a second of a processor. Logins wait for it here, as coroutines, so that
pages have their threads and processors; the places are bounded, by source first, so that one sender
takes two and not all, and known devices have separate places.
Invariant: memory is bounded, and a refusal names the time at which to try again.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from manager.errors import BusyError, SlowDownError
from manager.operations.people.login_throttle import LoginWait
from manager.operations.people.passwords import AT_ONCE
from shared.frozen import frozen

__all__ = ["GateSize", "LoginGate", "RefusalHold"]

SOON_S: Final = 2


@frozen
class GateSize:
    """Bounds of waiting logins. strange: of unknown devices; known: of others; each: of a source.

    The defaults are those of the settings.
    """

    strange: int = 64
    known: int = 16
    each: int = 2


class RefusalHold:
    """Holds the answers to senders who are refused often: a second, and longer the more they ask.

    Of a good key nothing is held, also from the same address.
    """

    FREE: Final = 40
    MINUTE_MS: Final = 60_000
    SOURCES: Final = 10_000
    LONGEST: Final = 10

    def __init__(self, hold_s: float = 1.0, held_most: int = 2_000) -> None:
        """hold_s: of the first ones, the last ones `LONGEST` times as long. held_most: at a time;
        each is a connection that `limits.connections` counts."""
        self._hold_s = hold_s
        self._held_most = held_most
        self._held = 0
        self._refused: OrderedDict[str, tuple[int, int]] = OrderedDict()

    async def refused(self, source: str, now_ms: int) -> None:
        """Record a refusal, and delay its answer where there were many."""
        since_ms, count = self._refused.pop(source, (now_ms, 0))
        if not 0 <= now_ms - since_ms < self.MINUTE_MS:
            since_ms, count = now_ms, 0
        self._refused[source] = (since_ms, count + 1)
        if len(self._refused) > self.SOURCES:
            self._refused.popitem(last=False)
        if count < self.FREE or self._held >= self._held_most:
            return
        self._held += 1
        try:
            await asyncio.sleep(self._hold_s * min(self.LONGEST, count // self.FREE))
        finally:
            self._held -= 1


class LoginGate:
    """Lets logins to their look at a password."""

    def __init__(self, at_once: int = AT_ONCE, size: GateSize | None = None) -> None:
        """at_once: looks at a time; each keeps a processor busy for a tenth of a second."""
        self._size = size or GateSize()
        self._turns = asyncio.Semaphore(at_once)
        self._strange = 0
        self._known = 0
        self._by_source: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, wait: LoginWait) -> AsyncIterator[None]:
        """Wait for a turn; the look is taken inside.

        Raises SlowDownError (this source has as many under way as it may), BusyError (all places
        are taken).
        """
        source, known = wait.source, wait.known
        size = self._size
        if self._by_source[source] >= size.each:
            raise SlowDownError("people.logins_of_address", SOON_S, most=size.each, wait_s=SOON_S)
        if self._known >= size.known if known else self._strange >= size.strange:
            name, most = (
                ("queued_known_device_logins", size.known)
                if known
                else ("queued_logins", size.strange)
            )
            raise BusyError("people.logins_waiting", SOON_S, most=most, limit=name, wait_s=SOON_S)
        self._count(source, 1, known=known)
        try:
            if wait.delay_s:
                await asyncio.sleep(wait.delay_s)
            async with self._turns:
                yield
        finally:
            self._count(source, -1, known=known)

    def _count(self, source: str, by: int, *, known: bool) -> None:
        self._by_source[source] += by
        if not self._by_source[source]:
            del self._by_source[source]
        if known:
            self._known += by
        else:
            self._strange += by
