"""Runs of crawlers on one web, and their comparison.

The machine is not the same from one minute to the next, and a peer takes minutes where ours takes
seconds. So ours runs twice before and twice after each peer, and the peer is held against these
four together: a machine that slows down or speeds up meanwhile is in both sides of the ratio.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from benchmarks.crawl.measure import Cost
from benchmarks.crawl.nginx import Fetched
from benchmarks.crawl.ours import Pauses

__all__ = ["HEADING", "OURS", "Run", "order", "over", "pages_per_cpu_s", "pages_per_s"]

OURS: Final = "ours"
IN_A_ROW: Final = 2
"""Runs of ours before, between and behind the peers."""

HEADING: Final = (
    "  crawler            pages  of HTML  pages/CPU-s  us CPU/page   pages/s   MB RSS"
    "  loop ms  pause ms"
)


@dataclass(frozen=True, slots=True)
class Run:
    """One crawler on one web."""

    name: str
    cost: Cost
    fetched: Fetched
    pauses: Pauses | None = None

    def line(self) -> str:
        """Return the row of the table."""
        rate = pages_per_cpu_s([self])
        pause = f"{self.pauses.worst_ms:10.0f}" if self.pauses else ""
        return (
            f"  {self.name:17}{self.fetched.urls:7}{self.fetched.html:9}"
            f"{rate:13.0f}{1e6 / max(rate, 0.001):11.0f}"
            f"{pages_per_s([self]):10.0f}{self.cost.peak_bytes / 1e6:9.0f}"
            f"{self.cost.loop_ms:9.2f}{pause}"
        )


def order(names: Sequence[str]) -> list[str]:
    """Return who runs after whom: ours, where it is asked for, first and after each other."""
    others = [name for name in names if name != OURS]
    if OURS not in names:
        return others
    ours = [OURS] * IN_A_ROW
    return [*ours, *(one for name in others for one in (name, *ours))]


def over(runs: Sequence[Run], peer: str) -> float:
    """Return how many times the peer's pages a CPU-second ours has, next to it."""
    at = next(number for number, run in enumerate(runs) if run.name == peer)
    beside = [
        run
        for part in (reversed(runs[:at]), runs[at + 1 :])
        for run in takewhile(lambda run: run.name == OURS, part)
    ]
    return pages_per_cpu_s(beside) / pages_per_cpu_s([runs[at]])


def pages_per_cpu_s(runs: Iterable[Run]) -> float:
    """Return the pages of some runs a second of CPU time, of all their processes together."""
    runs = list(runs)
    return sum(run.fetched.urls for run in runs) / sum(run.cost.cpu_s for run in runs)


def pages_per_s(runs: Iterable[Run]) -> float:
    """Return the pages of some runs a second, each from its first answer to its last."""
    runs = list(runs)
    seconds = sum(run.fetched.seconds for run in runs)
    return sum(run.fetched.urls for run in runs) / max(seconds, 0.001)
