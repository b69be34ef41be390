"""Tells dead names from a dead network: when no name server answers, it is probably us.

While it is us, no host is given up. It is taken to be us when the look-ups of several names in a
row failed, and for a bounded time only: an agent whose last names are all dead must come to an end
too. `frontier.outage` judges requests without an answer.
"""

from __future__ import annotations

__all__ = ["Silence"]


class Silence:
    """Look-ups without an answer since the last answer from anywhere."""

    def __init__(self, names: int, longest_s: float) -> None:
        """Take how many silent names mean us, and for how long."""
        self._names = names
        self._longest_s = longest_s
        self._silent: set[str] = set()
        self._since_s = 0.0

    def answered(self) -> None:
        """Note that a name server answers."""
        self._silent.clear()

    def failed(self, name: str, now_s: float) -> None:
        """Note that a look-up failed."""
        if not self._silent:
            self._since_s = now_s
        if len(self._silent) < self._names:
            self._silent.add(name)

    def is_ours(self, now_s: float) -> bool:
        """Return whether it is our own network that is down."""
        return len(self._silent) >= self._names and now_s - self._since_s <= self._longest_s
