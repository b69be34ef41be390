"""The event stream: it names changed topics, never new values; pages fetch their parts again.

A stream is a connection that stays, so there are only so many: a manager holds `MOST` of them, a
session `OF_A_SESSION`. A page without one polls every few seconds, as does a page behind a proxy
that holds streams back. Changes are read from the database, whichever manager made them; the
streams of a manager share one read. A stream ends with its session, and when the manager
stops. Format: Server-Sent Events, https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["Streams", "told"]

MOST: Final = 200
OF_A_SESSION: Final = 12
"""Pages that one person has open at once; hidden ones close theirs."""

LOOK_S: Final = 1.5
LOOKS_A_SIGN: Final = 10
"""Looks after which the session is checked and a comment is sent: proxies end connections that
are silent for a minute."""

RETRY_MS: Final = 3000

_log: Final = logging.getLogger(__name__)


class Streams:
    """Count of open streams, and their limit. Only the event loop's thread asks."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._open: Counter[str] = Counter()
        self.closed = False

    def close(self) -> None:
        """End all streams at their next look, because the manager stops."""
        self.closed = True

    def has_room(self, session: str) -> bool:
        """Return whether a session may have one more."""
        return self._open.total() < self._most and self._open[session] < OF_A_SESSION

    @contextmanager
    def place(self, session: str) -> Iterator[None]:
        """Hold a place while a stream is open."""
        self._open[session] += 1
        try:
            yield
        finally:
            self._open[session] -= 1
            if self._open[session] <= 0:
                del self._open[session]


async def told(
    streams: Streams,
    session: str,
    marks: Callable[[], dict[str, str]],
    is_over: Callable[[], bool],
    look_s: float = LOOK_S,
) -> AsyncIterator[str]:
    """Yield the stream's text. session: its token's hash. marks and is_over ask the database.

    `hello` when it listens, `changed` with topics, `over` when the session is; a comment between.
    """
    if not streams.has_room(session):
        return
    with streams.place(session):
        try:
            seen = await asyncio.to_thread(marks)
            yield f"retry: {RETRY_MS}\nevent: hello\ndata:\n\n"
            looks = 0
            while not streams.closed:
                await asyncio.sleep(look_s)
                looks += 1
                if looks % LOOKS_A_SIGN == 0:
                    if await asyncio.to_thread(is_over):
                        yield "event: over\ndata:\n\n"
                        return
                    yield ": here\n\n"
                now = await asyncio.to_thread(marks)
                changed = [topic for topic, mark in now.items() if seen[topic] != mark]
                seen = now
                if changed:
                    yield f"event: changed\ndata: {' '.join(changed)}\n\n"
        except Exception:  # noqa: BLE001  # the browser tries again, and meanwhile says it is stale
            _log.warning("an event stream ended", exc_info=True)
