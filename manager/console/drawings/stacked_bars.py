"""Drawings made by the server: where the bars begin and end. Templates write them as SVG.

A drawing is 1000 wide, whatever its width on the screen; colours are classes of the style sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from shared.frozen import frozen

__all__ = ["WIDTH", "BarSection", "mark_at", "stacked"]

WIDTH: Final = 1000.0


@frozen
class BarSection:
    """A stretch of a bar: its class, its number, where it begins and how long it is."""

    name: str
    number: float
    x: float
    width: float


def stacked(numbers: Sequence[tuple[str, float]], whole: float = 0.0) -> list[BarSection]:
    """Return the parts of a bar, one behind the other; whole: what the full width stands for.

    0: the sum of the numbers. Parts of nothing are left out; what is over the whole is cut.
    """
    total = whole or sum(number for _, number in numbers)
    parts: list[BarSection] = []
    x = 0.0
    for name, number in numbers:
        if total <= 0 or number <= 0 or x >= WIDTH:
            continue
        width = min(WIDTH - x, WIDTH * number / total)
        parts.append(BarSection(name, number, round(x, 2), round(width, 2)))
        x += width
    return parts


def mark_at(number: float, whole: float) -> float:
    """Return where a line stands that marks a number."""
    return 0.0 if whole <= 0 else round(min(WIDTH, max(0.0, WIDTH * number / whole)), 2)
