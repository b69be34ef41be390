"""A limit on what all requests receive together, in bytes a second.

The bucket holds at most a second's worth. A transfer that finds it empty is paused, which fills
the connection's window and so slows its sender; when the bucket has something again, all paused
ones continue.
"""

from __future__ import annotations

from typing import Final

__all__ = ["RateLimit"]

BURST_S: Final = 1.0


class RateLimit:
    """A token bucket; a rate of 0 is no limit."""

    def __init__(self, bytes_per_s: int, now_s: float) -> None:
        self._bytes_per_s = bytes_per_s
        self.limited = bytes_per_s > 0  # asked for each piece of a body
        self.passed_bytes = 0  # while limited, since the beginning
        self._bytes = bytes_per_s * BURST_S
        self._filled_s = now_s

    def change(self, bytes_per_s: int, now_s: float) -> None:
        """Limit to another rate from now on."""
        self._fill(now_s)
        self._bytes_per_s = bytes_per_s
        self.limited = bytes_per_s > 0
        self._bytes = min(self._bytes, bytes_per_s * BURST_S)

    def take(self, size_bytes: int, now_s: float) -> bool:
        """Return whether so many bytes may be received now; if so, count them.

        The last taker may overdraw, so that a piece larger than the bucket passes too.
        """
        if self._bytes_per_s == 0:
            return True
        self._fill(now_s)
        if self._bytes <= 0:
            return False
        self._bytes -= size_bytes
        self.passed_bytes += size_bytes
        return True

    def wait_s(self) -> float:
        """Return in how many seconds the bucket holds something again."""
        if self._bytes_per_s == 0 or self._bytes > 0:
            return 0.0
        return (1 - self._bytes) / self._bytes_per_s

    def _fill(self, now_s: float) -> None:
        gained = (now_s - self._filled_s) * self._bytes_per_s
        self._bytes = min(self._bytes + gained, self._bytes_per_s * BURST_S)
        self._filled_s = now_s
