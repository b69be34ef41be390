"""Politeness of a crawl by the log of the server: the gaps between requests to one address.

Invariant: a gap is from the end of a request to the start of the next one, as the server saw both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from benchmarks.crawl.nginx import Logged

__all__ = ["Politeness", "judge"]

TOLERANCE_S: Final = 0.005
"""nginx writes milliseconds, of a clock that it reads once for all events at hand."""


@dataclass(frozen=True, slots=True)
class Politeness:
    """Gaps that were too short, and the shortest of all; None: no address had two requests."""

    violations: int
    least_gap_s: float | None


def judge(requests: Iterable[Logged], interval_s: float) -> Politeness:
    """Return how many requests came sooner than an interval after the last at their address."""
    ends: dict[str, float] = {}
    violations, least_s = 0, None
    for one in sorted(requests, key=lambda request: request.start_s):
        last_s = ends.get(one.address)
        if last_s is not None:
            gap_s = one.start_s - last_s
            least_s = gap_s if least_s is None else min(least_s, gap_s)
            violations += gap_s < interval_s - TOLERANCE_S
        ends[one.address] = max(one.end_s, last_s or 0.0)
    return Politeness(violations, None if least_s is None else round(least_s, 3))
