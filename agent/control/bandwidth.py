"""Keeps the fetches of all hosts together under a rate, by not starting new ones for a while.

A request that is under way is not slowed: how long an answer takes is measured, and must be the
network's and the host's. What came above the rate is paid back by waiting.
"""

from __future__ import annotations

from typing import Final

__all__ = ["Bandwidth"]

BURST_S: Final = 1.0  # so much of the rate may be taken at once


class Bandwidth:
    """A bucket that fills at the rate and is emptied by what arrives. 0: no limit."""

    def __init__(self, bytes_per_s: int, now_s: float) -> None:
        self._bytes_per_s = bytes_per_s
        self._level = bytes_per_s * BURST_S
        self._then_s = now_s

    def take(self, received_bytes: int) -> None:
        """Take note of bytes that came."""
        self._level -= received_bytes

    def allows(self, now_s: float) -> bool:
        """Tell whether a request may be started."""
        if not self._bytes_per_s:
            return True
        filled = self._level + (now_s - self._then_s) * self._bytes_per_s
        self._level = min(filled, self._bytes_per_s * BURST_S)
        self._then_s = now_s
        return self._level > 0
