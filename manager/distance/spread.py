"""Spread of a measurement: a histogram of its lines' ms per KByte.

Bins are an eighth of an octave wide (9%), so a quartile is right within 5% whatever its size.
Histograms of the logs of one round add up, which quartiles do not; so these are what is kept.
Invariant: what a log says decides the counts only; the number of bins is bounded.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import field
from itertools import accumulate
from typing import Final

from manager.distance.errors import DistanceError
from shared.frozen import frozen

__all__ = ["BINS_AN_OCTAVE", "LEAST_MS_PER_KB", "Quartiles", "Spread", "merged"]

BINS_AN_OCTAVE: Final = 8
LEAST_MS_PER_KB: Final = 1 / 1024
"""A gigabyte a second. A line that claims more, or no time at all, falls into the first bin."""

_BINS: Final = range(-10 * BINS_AN_OCTAVE, 64 * BINS_AN_OCTAVE)
_ENTRY: Final = re.compile(r"(-?[0-9]{1,4}):([0-9]{1,18})")
_FEW: Final = 64


class _Entries(dict[str, tuple[int, int]]):
    """Return an entry's (bin, lines); those of few lines are parsed once.

    A log has dozens of them for each of its units, most of them the same. `_FEW` bounds how many
    there can be.
    """

    def __missing__(self, entry: str) -> tuple[int, int]:
        found = _ENTRY.fullmatch(entry)
        number, lines = (int(found[1]), int(found[2])) if found else (0, 0)
        if not found or number not in _BINS:
            raise DistanceError("distance.bad_spread", entry=entry[:40])
        if lines < _FEW and entry == f"{number}:{lines}":
            self[entry] = number, lines
        return number, lines


_ENTRIES: Final = _Entries()


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
        return cls(dict(map(_ENTRIES.__getitem__, text.split())))

    @property
    def text(self) -> str:
        """Return it as the tables keep it: `BIN:LINES` for each bin, ascending."""
        return " ".join([f"{number}:{self.counts[number]}" for number in sorted(self.counts)])

    @property
    def quartiles(self) -> Quartiles | None:
        """Return the quartiles, each in the middle of its bin; None without a line."""
        bins = sorted(self.counts)
        up_to = list(accumulate(map(self.counts.__getitem__, bins)))
        if not up_to or not up_to[-1]:
            return None
        wanted = (max(1, math.ceil(share * up_to[-1])) for share in (0.25, 0.5, 0.75))
        found = (bins[bisect_left(up_to, lines)] for lines in wanted)
        return Quartiles(*(float(2 ** ((number + 0.5) / BINS_AN_OCTAVE)) for number in found))


def merged(first: Spread, second: Spread) -> Spread:
    """Return the spread of the lines of both."""
    both = dict(first.counts)
    for number, lines in second.counts.items():
        both[number] = both.get(number, 0) + lines
    return Spread(both)
