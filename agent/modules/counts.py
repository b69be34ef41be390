"""Counts what is not fetched, by reason, with a few examples that a person can look at.

Invariant: memory is bounded whatever the crawl meets: reasons are named in code, and each keeps
at most `EXAMPLES` texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = ["EXAMPLES", "StopCounts", "Stopped"]

EXAMPLES: Final = 10
EXAMPLE_CHARS: Final = 300


@dataclass(slots=True)
class Stopped:
    """Count of URLs stopped for one reason, with the first examples."""

    count: int = 0
    examples: list[str] = field(default_factory=list)


class StopCounts:
    """Stopped URLs since the process started, by reason; shown by `prs status`."""

    def __init__(self) -> None:
        self._stopped: dict[str, Stopped] = {}

    def add(self, reason: str, example: str, count: int = 1) -> None:
        """Count one more, or several with one example."""
        stopped = self._stopped.setdefault(reason, Stopped())
        stopped.count += count
        if len(stopped.examples) < EXAMPLES:
            stopped.examples.append(example[:EXAMPLE_CHARS])

    def add_all(self, other: StopCounts) -> None:
        """Add the counts of another counter."""
        for reason, more in other.by_reason.items():
            stopped = self._stopped.setdefault(reason, Stopped())
            stopped.count += more.count
            stopped.examples += more.examples[: EXAMPLES - len(stopped.examples)]

    @property
    def by_reason(self) -> Mapping[str, Stopped]:
        """Return all reasons that occurred."""
        return self._stopped

    def count(self, reason: str) -> int:
        """Return how often a reason occurred."""
        stopped = self._stopped.get(reason)
        return 0 if stopped is None else stopped.count
