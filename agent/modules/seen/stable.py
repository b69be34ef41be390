"""Stable Bloom Filter (Deng and Rafiei, 2006) and Stable Bloom Filter Light (seed 003).

Counters of two bits. To add a key, `p` counters are decremented and the key's `k` counters set to
3; a key is known while none of its counters is 0. So old keys fade, and the share of zeros, and
with it the rate of false positives, settles. The two differ in which counters are decremented: at
random, or in a row, going round. Going round needs no random numbers, and 32 counters in a word of
64 bits go down at once without a branch.

Promise: false positives settle at or below `fp_rate`; going round, the last 2 m / p keys are
known, since the third decrement of a counter comes at least two rounds after it was set.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agent.modules.seen.interface import Flags, Keys
from agent.modules.seen.places import Places, places_of

__all__ = ["MAX", "StableBloom", "StableBloomLight", "decrements"]

MAX: Final = 3
"""The greatest value of a counter of two bits; the source's choice."""

_ODD_BITS: Final = np.uint64(0x5555_5555_5555_5555)
_ONE: Final = np.uint64(1)
_PER_BYTE: Final = 4
_PER_WORD: Final = 32
_ROUND_SHARE: Final = 64
"""A batch that would decrement more than this part of all counters is cut into smaller ones."""


def decrements(fp_rate: float, hashes: int, counters: int) -> float:
    """Return p, the best number of counters to decrement for each key.

    Source: seed 003, formula 3, in which the exponent 1/Max lost its sign in print; this is formula
    17 of Deng and Rafiei. For k = 8, 0.001 % and Max = 3 it is 84.73.
    """
    zeros = 1.0 - math.pow(fp_rate, 1.0 / hashes)
    return 1.0 / ((math.pow(zeros, -1.0 / MAX) - 1.0) * (1.0 / hashes - 1.0 / counters))


class StableBloom:
    """The filter with random decrements. Fulfils `Filter`."""

    def __init__(self, counters: int, fp_rate: float, hashes: int, seed: int = 0) -> None:
        """counters: m, a power of two of 32 to 2^32. seed: of the Mersenne Twister."""
        self._words = np.zeros(counters // _PER_WORD, "<u8")
        self._bytes = self._words.view(np.uint8)
        self._hashes = hashes
        self.counters = counters
        self.p = decrements(fp_rate, hashes, counters)
        self._owed = 0.0  # the fraction of p that was not decremented yet
        self._batch = max(1, math.floor(counters / self.p / _ROUND_SHARE))
        self._random = np.random.Generator(np.random.MT19937(seed))

    @property
    def nbytes(self) -> int:
        """Return the bytes of the counters."""
        return int(self._words.nbytes)

    def knows(self, keys: Keys) -> Flags:
        """Return for each key whether all its counters are above 0."""
        places = places_of(keys, self._hashes, self.counters)
        found: Flags = (self._values(places) != 0).all(axis=1)
        return found

    def add(self, keys: Keys) -> None:
        """Remember keys, in order."""
        for start in range(0, len(keys), self._batch):
            batch = keys[start : start + self._batch]
            self._owed += self.p * len(batch)
            self.decrement(int(self._owed))
            self._owed %= 1.0
            self._set(places_of(batch, self._hashes, self.counters).ravel())

    def decrement(self, count: int) -> None:
        """Take 1 from so many counters, chosen at random, those above 0."""
        self._take_one(self._random.integers(0, self.counters, count, np.int64))

    def values(self) -> NDArray[np.uint8]:
        """Return all counters, unpacked: four times the memory."""
        return self._values(np.arange(self.counters))

    def _take_one(self, places: Places) -> None:
        # One counter of each byte at a time: a byte must not be read before it was written.
        while places.size:
            _, first = np.unique(places >> 2, return_index=True)
            chosen = places[first]
            shift = ((chosen & 3) * 2).astype(np.uint8)
            one = (self._values(chosen) != 0).astype(np.uint8) << shift
            self._bytes[chosen >> 2] -= one
            places = np.delete(places, first)

    def _values(self, places: Places) -> NDArray[np.uint8]:
        shift = ((places & 3) * 2).astype(np.uint8)
        values: NDArray[np.uint8] = (self._bytes[places >> 2] >> shift) & np.uint8(MAX)
        return values

    def _set(self, places: Places) -> None:
        slot = places & 3
        for number in range(_PER_BYTE):
            self._bytes[places[slot == number] >> 2] |= np.uint8(MAX << (2 * number))


class StableBloomLight(StableBloom):
    """The filter that goes round. Fulfils `Filter`."""

    def __init__(self, counters: int, fp_rate: float, hashes: int) -> None:
        super().__init__(counters, fp_rate, hashes)
        self._next = 0

    def decrement(self, count: int) -> None:
        """Take 1 from the next counters, those above 0; 32 of them at once."""
        while count > 0:
            end = min(self._next + count, self.counters)
            self._take_row(self._next, end)
            count -= end - self._next
            self._next = end % self.counters

    def decrement_singly(self, count: int) -> None:
        """Do the same counter by counter, for the source's table 1."""
        places = np.arange(self._next, self._next + count) % self.counters
        self._take_one(places)
        self._next = (self._next + count) % self.counters

    def _take_row(self, start: int, end: int) -> None:
        first, last = start // _PER_WORD, (end - 1) // _PER_WORD
        words = self._words[first : last + 1]
        one = (words | (words >> _ONE)) & _ODD_BITS  # of each counter above 0
        one[0] &= np.uint64((0xFFFF_FFFF_FFFF_FFFF << 2 * (start % _PER_WORD)) & (2**64 - 1))
        one[-1] &= np.uint64(0xFFFF_FFFF_FFFF_FFFF >> 2 * (_PER_WORD - 1 - (end - 1) % _PER_WORD))
        words -= one
