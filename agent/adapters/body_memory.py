"""Bytes of bodies in memory: incoming answers and waiting pages.

The fetcher counts incoming bytes and stops counting when an answer is handed on; the page workers'
pool counts a page from when it gets it until its work is done. What is on its way from the one to
the other, for a turn of the loop, is not counted.
"""

from __future__ import annotations

from typing import Final

__all__ = ["DEFAULT_BODY_MEMORY_BYTES", "BodyMemory"]

DEFAULT_BODY_MEMORY_BYTES: Final = 256_000_000


class BodyMemory:
    """Two sums, in bytes, and the bound on both together; plain numbers, as they are for each piece
    of a body.

    Beyond `most` no more than one transfer continues (`adapters.curl.body_room`). `gate` is the
    bound that a piece of a body is compared with: `most`, or -1 while transfers wait.
    """

    def __init__(self, most: int = DEFAULT_BODY_MEMORY_BYTES) -> None:
        self.most = most
        self.gate = most
        self.sum = 0  # all of it
        self.waiting = 0  # of it, pages that have come and wait to be read

    def limit(self, most: int) -> None:
        """Take another bound."""
        self.most = most
        if self.gate >= 0:
            self.gate = most

    @property
    def crowded(self) -> bool:
        """Return whether no more transfers should be begun: those under way need the other half."""
        return self.sum > self.most // 2
