"""Counts of stopped URLs, by reason with a few examples, and of the URLs by kind of link.

Invariant: memory is bounded whatever the crawl meets: reasons are named in code, and each keeps
at most `EXAMPLES` texts; of links there is a row for each kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from agent.pipeline.link_kinds import KIND_BITS, kind_name

__all__ = ["EXAMPLES", "KindCounts", "KindSum", "StopCounts", "Stopped"]

EXAMPLES: Final = 10
EXAMPLE_CHARS: Final = 300
_MISSING: Final = frozenset((404, 410))


@dataclass(slots=True)
class Stopped:
    """Count of URLs stopped for one reason, with the first examples."""

    count: int = 0
    examples: list[str] = field(default_factory=list)


class StopCounts:
    """Stopped URLs since the process started, by reason; shown by `prs status`."""

    def __init__(self) -> None:
        self.by_reason: dict[str, Stopped] = {}  # that occurred

    def add(self, reason: str, example: str, count: int = 1) -> None:
        """Count one more, or several with one example."""
        stopped = self.by_reason.setdefault(reason, Stopped())
        stopped.count += count
        if len(stopped.examples) < EXAMPLES:
            stopped.examples.append(example[:EXAMPLE_CHARS])

    def add_all(self, other: StopCounts) -> None:
        """Add the counts of another counter."""
        for reason, more in other.by_reason.items():
            stopped = self.by_reason.setdefault(reason, Stopped())
            stopped.count += more.count
            stopped.examples += more.examples[: EXAMPLES - len(stopped.examples)]

    def count(self, reason: str) -> int:
        """Return how often a reason occurred."""
        stopped = self.by_reason.get(reason)
        return 0 if stopped is None else stopped.count


@dataclass(slots=True)
class KindSum:
    """Counts of one kind."""

    links: int = 0  # URLs that it was the first to lead to
    pages: int = 0  # of them, answered with 2xx
    missing: int = 0  # with 404 or 410


class KindCounts:
    """URLs and answers by kind of link since the process started; shown by `prs status`.

    A kind that mostly brings 404s guesses badly on these sites, and `links.disabled_kinds` can
    switch it off.
    """

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
