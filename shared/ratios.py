"""Ratios for people: whatever a number is divided by, they have few digits or are left out."""

from __future__ import annotations

import math
from typing import Final

from shared.messages import Message
from shared.plurals import with_plurals

__all__ = [
    "MOST_TIMES",
    "PERCENTS_END",
    "change_of",
    "spoken_change",
    "spoken_times",
    "times_message",
    "times_of",
]

MOST_TIMES: Final = 10_000.0
"""Above it the digits say nothing."""
PERCENTS_END: Final = 10.0
"""From ten times on "12 times" says more than "+1,100%"."""


def spoken_times(ratio: float) -> str:
    """Return how many times more or less something is, by a ratio above or below 1; bounded.

    10 and 0.1 are both `10`.
    """
    times = _times(ratio)
    if not times < MOST_TIMES + 0.5:
        return f"more than {MOST_TIMES:,.0f}"
    return f"{times:,.0f}" if times >= 10 else f"{times:.2g}"


def times_message(ratio: float) -> Message:
    """Return how many times more or less something is, as `spoken_times`, as a message."""
    times = _times(ratio)
    if not times < MOST_TIMES + 0.5:
        code = "general.times_over" if ratio >= 1 else "general.fraction_over"
    else:
        code = "general.times" if ratio >= 1 else "general.fraction"
    return Message(code, times=times_of(ratio))


def times_of(ratio: float) -> float:
    """Return how many times more or less something is, in few digits; `MOST_TIMES` at most."""
    times = min(_times(ratio), MOST_TIMES)
    number = float(f"{times:.0f}" if times >= 10 else f"{times:.2g}")
    return int(number) if number.is_integer() else number


def _times(ratio: float) -> float:
    return ratio if ratio >= 1 else 1 / ratio if ratio > 0 else math.inf


def change_of(number: float | None, before: float | None) -> float | None:
    """Return a number over another; None where one is not known or there is none to compare to."""
    if number is None or before is None or not before > 0 or not number >= 0:
        return None
    ratio = number / before
    return ratio if math.isfinite(ratio) else math.inf


def spoken_change(ratio: float | None) -> str | None:
    """Return a ratio as a change: `+25.3%`, `-3.0%`, `12 times`; None where there is none."""
    if ratio is None:
        return None
    if ratio < PERCENTS_END:
        return f"{100 * (ratio - 1):+.1f}%"
    return with_plurals(f"{spoken_times(ratio)} times")
