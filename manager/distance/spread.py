"""How much the lines of a measurement differ: a histogram of their ms per KByte.

Bins are an eighth of an octave wide (9%), so a quartile is right within 5% whatever its size.
Histograms of the logs of one round add up, which quartiles do not; so these are what is kept.
Invariant: what a log says decides the counts only; the number of bins is bounded.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from manager.distance.errors import DistanceError
from shared.frozen import frozen

__all__ = ["BINS_AN_OCTAVE", "LEAST_MS_PER_KB", "Quartiles", "Spread", "merged"]

BINS_AN_OCTAVE: Final = 8
LEAST_MS_PER_KB: Final = 1 / 1024
"""A gigabyte a second. A line that claims more, or no time at all, falls into the first bin."""

_BINS: Final = range(-10 * BINS_AN_OCTAVE, 64 * BINS_AN_OCTAVE)
_ENTRY: Final = re.compile(r"(-?[0-9]{1,4}):([0-9]{1,18})")


@frozen
class Quartiles:
    """Of the lines that brought bytes, each line counted once: ms per KByte."""

    first: float
    median: float
    third: float


@frozen
class Spread:
    """counts: lines with bytes, by bin; bin b holds 2^(b/8) to 2^((b+1)/8) ms per KByte."""

    counts: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def of_text(cls, text: str) -> Spread:
        """Return what `text` of a spread says; raises DistanceError."""
        counts: dict[int, int] = {}
        for entry in text.split():
            match = _ENTRY.fullmatch(entry)
            if match is None or int(match[1]) not in _BINS:
                raise DistanceError(f"spread {entry[:40]!r}: must be BIN:LINES, as 12:50")
            counts[int(match[1])] = int(match[2])
        return cls(counts)

    @property
    def text(self) -> str:
        """Return it as the tables keep it: `BIN:LINES` for each bin, ascending."""
        return " ".join(f"{number}:{lines}" for number, lines in sorted(self.counts.items()))

    @property
    def lines(self) -> int:
        """Return how many lines it is of."""
        return sum(self.counts.values())

    @property
    def quartiles(self) -> Quartiles | None:
        """Return the quartiles, each in the middle of its bin; None without a line."""
        if not self.lines:
            return None
        return Quartiles(*(self._quantile(share) for share in (0.25, 0.5, 0.75)))

    def _quantile(self, share: float) -> float:
        wanted = max(1, math.ceil(share * self.lines))
        for number, lines in sorted(self.counts.items()):
            wanted -= lines
            if wanted <= 0:
                return float(2 ** ((number + 0.5) / BINS_AN_OCTAVE))
        raise AssertionError("a share of the lines is among the lines")


def merged(first: Spread, second: Spread) -> Spread:
    """Return the spread of the lines of both."""
    return Spread(Counter(first.counts) + Counter(second.counts))
