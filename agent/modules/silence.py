"""Tells a dead host from a dead network: when nobody answers any more, it is probably us.

While it is us, no host is given up and no attempt counts. It is taken to be us when several
addresses in a row did not answer, and for a bounded time only: an agent whose last hosts are all
dead must come to an end too. A permit lasts shorter than that, so an agent that is really cut
off has stopped asking by then.
"""

from __future__ import annotations

__all__ = ["Silence"]


class Silence:
    """What has not answered since the last answer from anywhere."""

    def __init__(self, addresses: int, longest_s: float) -> None:
        """Take how many silent addresses mean us, and for how long."""
        self._addresses = addresses
        self._longest_s = longest_s
        self._silent: set[str] = set()
        self._since_s = 0.0

    def answered(self) -> None:
        """Note that somebody is there."""
        self._silent.clear()

    def failed(self, address: str, now_s: float) -> None:
        """Note that an address did not answer."""
        if not self._silent:
            self._since_s = now_s
        if len(self._silent) < self._addresses:
            self._silent.add(address)

    def is_ours(self, now_s: float) -> bool:
        """Tell whether it is our own network that is down."""
        return len(self._silent) >= self._addresses and now_s - self._since_s <= self._longest_s
