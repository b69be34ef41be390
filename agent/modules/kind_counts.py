"""Counts what each kind of links brings: URLs, pages, and those that are not there.

A kind that mostly brings 404s guesses badly on these sites, and `links.disabled_kinds` can switch
it off.
Invariant: bounded: a row for each kind. Counted since the process started.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from agent.pipeline.link_kinds import KIND_BITS, kind_name

__all__ = ["KindCounts", "KindSum"]

_MISSING: Final = frozenset((404, 410))


@dataclass(slots=True)
class KindSum:
    """Counts of one kind."""

    links: int = 0  # URLs that it was the first to lead to
    pages: int = 0  # of them, answered with 2xx
    missing: int = 0  # with 404 or 410


class KindCounts:
    """The counts of all kinds; shown by `prs status`."""

    def __init__(self) -> None:
        self._sums: dict[int, KindSum] = {}

    def found(self, kind: int) -> None:
        """Count a URL that is new."""
        self._sum(kind).links += 1

    def answered(self, kind: int, status: int) -> None:
        """Count the answer to a request."""
        if 200 <= status <= 299:
            self._sum(kind).pages += 1
        elif status in _MISSING:
            self._sum(kind).missing += 1

    @property
    def by_name(self) -> Mapping[str, KindSum]:
        """Return the kinds that brought anything, by name, in the order of their numbers."""
        return {kind_name(kind): self._sums[kind] for kind in sorted(self._sums)}

    def _sum(self, kind: int) -> KindSum:
        kind &= KIND_BITS
        found = self._sums.get(kind)
        if found is None:
            found = self._sums[kind] = KindSum()
        return found
