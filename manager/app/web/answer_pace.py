"""The pace at which a client takes an answer: who takes nothing, or trickles, is cut off.

A connection is watched only while more is written than the system's buffers hold, which takes a
client that is slower than the manager. Without that, a few thousand clients that ask for a long
answer and never read it would keep all connections for ever.
"""

from __future__ import annotations

import asyncio

__all__ = ["AnswerPace"]


class AnswerPace:
    """Watches one connection until `stop`; aborts it where its client is too slow."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transport: asyncio.Transport,
        idle_s: float,
        least_bytes_per_s: int,
    ) -> None:
        """idle_s: how long a client may take nothing. least_bytes_per_s: what it takes at least."""
        self._loop = loop
        self._transport = transport
        self._idle_s = idle_s
        self._least_bytes = max(1, round(least_bytes_per_s * idle_s))
        self._left_bytes = transport.get_write_buffer_size()
        self._timer = loop.call_later(idle_s, self._look)

    def stop(self) -> None:
        """Watch no more."""
        self._timer.cancel()

    def _look(self) -> None:
        left_bytes = self._transport.get_write_buffer_size()
        if self._left_bytes - left_bytes < self._least_bytes:
            self._transport.abort()
            return
        self._left_bytes = left_bytes
        self._timer = self._loop.call_later(self._idle_s, self._look)
