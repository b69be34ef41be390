"""Ratios of times in words: a time may be 0, and then a ratio has no end."""

from __future__ import annotations

import math
from typing import Final

__all__ = ["MOST_TIMES", "spoken_times"]

MOST_TIMES: Final = 10_000.0
"""Above it nobody reads the digits."""


def spoken_times(ratio: float) -> str:
    """Return how many times more or less something is, by a ratio above or below 1; bounded.

    10 and 0.1 are both `10`.
    """
    times = ratio if ratio >= 1 else 1 / ratio if ratio > 0 else math.inf
    if not times < MOST_TIMES + 0.5:
        return f"more than {MOST_TIMES:,.0f}"
    return f"{times:,.0f}" if times >= 10 else f"{times:.2g}"
