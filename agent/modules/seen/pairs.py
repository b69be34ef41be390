"""A table of whole 64-bit keys with two places for each key, in plain Python.

A key has its home in one pair of places. The first place holds the one met last; whoever is pushed
out of the second is forgotten. So the table never grows, moves or rebuilds, takes 8 bytes a key
where Python's set takes about 90, and a look-up touches one line of the processor's cache.

Promise: no false positive but for equal keys; the last key met in its pair is known.
Two-way set-associative caches are older than the web; the loop is in Python because a page has
too few new links for numpy's calls to pay (docs/adr/0045).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

__all__ = ["Pairs"]


class Pairs:
    """Fulfils `Seen`."""

    def __init__(self, size: int) -> None:
        """size: keys that find room; rounded down to a power of two, at least 4."""
        places = 1 << (max(4, size).bit_length() - 1)
        self._mask = places - 2  # of the first place of a pair
        self._places = array("q", [0]) * places
        self._clear(0)
        self._clear(1)

    def meet(self, keys: Sequence[int]) -> list[bool]:
        """Meet keys, each of -2^63 to 2^63 - 1; return for each whether it was known."""
        places, mask = self._places, self._mask
        known = []
        for key in keys:
            first = key & mask
            there = places[first]
            if there == key:
                known.append(True)
                continue
            known.append(places[first + 1] == key)
            places[first + 1] = there
            places[first] = key
        return known

    def forget(self, key: int) -> None:
        """Take a key out."""
        first = key & self._mask
        for place in (first, first + 1):
            if self._places[place] == key:
                self._clear(place)

    def _clear(self, place: int) -> None:
        # 0 is at home in the first pair only; there, an empty place holds a stranger to it.
        self._places[place] = 0 if place > 1 else 2
