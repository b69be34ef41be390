"""Fetch intervals: rights to fetch a unit by the manager's clock, and the windows they make.

Agents fetch units side by side, so that a window is the time of one unit, or one by one, so that a
unit takes from the end of the one before. Invariant: pure; a window counts only if all of its logs
are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from shared.frozen import frozen

__all__ = ["FetchInterval", "FetchWindows", "windows_of"]

Floats = npt.NDArray[np.float64]


@frozen
class FetchInterval:
    """One right by the manager's clock. requests, claimed_ms: of its log; None: not all is in."""

    unit: int
    from_ms: int
    until_ms: int
    requests: int | None
    claimed_ms: int | None


@dataclass(frozen=True)
class FetchWindows:
    """Intervals as the clock separates them; arrays are (windows,)."""

    units: list[tuple[int, ...]]
    requests: Floats
    claimed_ms: Floats
    clock_ms: Floats

    def __len__(self) -> int:
        return len(self.units)


def windows_of(intervals: Sequence[FetchInterval], *, one_by_one: bool) -> FetchWindows:
    """Return the windows of an agent's intervals in one round."""
    rows: list[tuple[tuple[int, ...], int, int, int]] = []
    ordered = sorted(intervals, key=lambda one: (one.until_ms, one.from_ms, one.unit))
    before_ms = 0
    for until_ms, group in groupby(ordered, key=lambda one: one.until_ms):
        together = list(group)
        first_ms = max(before_ms, min(one.from_ms for one in together))
        before_ms = until_ms
        parts = [together] if one_by_one else [[one] for one in together]
        for part in parts:
            clock_ms = until_ms - (first_ms if one_by_one else part[0].from_ms)
            requests = [one.requests for one in part if one.requests is not None]
            claimed = [one.claimed_ms for one in part if one.claimed_ms is not None]
            if clock_ms > 0 and len(requests) == len(claimed) == len(part):
                units = tuple(one.unit for one in part)
                rows.append((units, sum(requests), sum(claimed), clock_ms))
    numbers = np.array([row[1:] for row in rows], dtype=np.float64).reshape(-1, 3)
    return FetchWindows([row[0] for row in rows], numbers[:, 0], numbers[:, 1], numbers[:, 2])
