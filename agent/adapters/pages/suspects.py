"""Hosts whose pages killed workers: after three, its pages are archived without a look.

Each such page costs its limit of CPU time and a new process; a host has many pages. The verdict
on a host holds until the agent is started again: sites get mended.
"""

from __future__ import annotations

from typing import Final

__all__ = ["SET_ASIDE", "Suspects"]

SET_ASIDE: Final = "parse-skipped: its host's pages stopped the parser"
PAGES: Final = 3
HOSTS: Final = 10_000  # remembered; of one more, the one that was met first is forgotten


class Suspects:
    """Counts a host's pages that killed a worker."""

    def __init__(self) -> None:
        self._killed: dict[str, int] = {}

    def note(self, host: str) -> bool:
        """Count one more page of a host; tell whether it is the one that sets the host aside."""
        count = self._killed.pop(host, 0) + 1
        if len(self._killed) >= HOSTS:
            del self._killed[next(iter(self._killed))]
        self._killed[host] = count
        return count == PAGES

    def set_aside(self, host: str) -> bool:
        """Return whether a host's pages are no longer read."""
        return bool(self._killed) and self._killed.get(host, 0) >= PAGES
