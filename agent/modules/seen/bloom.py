"""Bloom filters that forget: eight generations in the bits of a byte, or counters that fade.

`RotatingBloom`: all generations use the same places, so one look at a key's bytes, and their
bitwise AND, asks all of them. A key is entered only if the young generation does not have it; when
that is full, the oldest is wiped and becomes the young one. Promise: the last 7/8 of `capacity`
different keys are known; a key that was never added is taken for known with a chance of at most
`fp_rate`.

`StableBloomLight`: counters of two bits. To add a key, `p` counters are decremented, in a row that
goes round, and the key's `k` counters set to 3; a key is known while none of its counters is 0. So
old keys fade, and the share of zeros, and with it the rate of false positives, settles. Going round
needs no random numbers, as the Stable Bloom Filter does, and 32 counters in a word of 64 bits go
down at once without a branch. Promise: false positives settle at or below `fp_rate`; the last
2 m / p keys are known, since the third decrement of a counter comes at least two rounds after it
was set.

Two halves of the mixed key give the places of its bits or counters by double hashing. In a small
filter two keys may have the same halves, so a third part of the key comes in; without it, 2^14
places were wrong five times as often as they should.
Source: Bloom (1970); generations as in Metwally et al. (2005), reference 1 of seed 003; Deng and
Rafiei (2006); Stable Bloom Filter Light, seed 003; Kirsch and Mitzenmacher, "Less hashing, same
performance: building a better Bloom filter" (2006); triple hashing: Dillinger and Manolios (2004).
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agent.modules.seen.interface import Flags, Keys

__all__ = [
    "MAX",
    "Places",
    "RotatingBloom",
    "StableBloomLight",
    "best_hashes",
    "decrements",
    "keys_for",
    "mixed",
    "places_of",
]

Places: TypeAlias = NDArray[np.int64]

_HALF: Final = np.uint64(32)
_QUARTER: Final = np.uint64(16)
_LOW: Final = np.uint64(0xFFFF_FFFF)

GENERATIONS: Final = 8

MAX: Final = 3
"""The greatest value of a counter of two bits; the source's choice."""

_ODD_BITS: Final = np.uint64(0x5555_5555_5555_5555)
_ONE: Final = np.uint64(1)
_PER_BYTE: Final = 4
_PER_WORD: Final = 32
_ROUND_SHARE: Final = 64
"""A batch that would decrement more than this part of all counters is cut into smaller ones."""


def mixed(keys: Keys) -> Keys:
    """Return keys whose bits all depend on all bits (the finaliser of splitmix64, Steele 2014)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def places_of(keys: Keys, count: int, size: int) -> Places:
    """Return (keys, count) places below `size`, a power of two of at most 2^32."""
    keys = mixed(keys)
    first, step, growth = keys & _LOW, (keys >> _HALF) | np.uint64(1), keys >> _QUARTER
    numbers = np.arange(count, dtype=np.uint64)
    pairs = numbers * (numbers - np.uint64(1)) // np.uint64(2) if count else numbers
    places = first[:, None] + step[:, None] * numbers + growth[:, None] * pairs
    found: Places = (places & np.uint64(size - 1)).astype(np.int64)
    return found


def best_hashes(fp_rate: float) -> int:
    """Return the number of hashes with which a generation holds the most keys."""
    return max(1, round(math.log2(GENERATIONS / fp_rate)))


def keys_for(bits: int, hashes: int, fp_rate: float) -> int:
    """Return how many keys `bits` bits hold at a rate of false positives (seed 003, formula 1)."""
    full = fp_rate ** (1 / hashes)
    return max(1, math.floor(-math.log1p(-full) * bits / hashes))


class RotatingBloom:
    """Fulfils `Filter`."""

    def __init__(self, size_bytes: int, fp_rate: float, hashes: int | None = None) -> None:
        """size_bytes: a power of two of at most 2^32. fp_rate: of all generations together."""
        self._hashes = hashes or best_hashes(fp_rate)
        self._cells = np.zeros(size_bytes, np.uint8)
        self._room = keys_for(size_bytes, self._hashes, fp_rate / GENERATIONS)
        self._young = 0
        self._held = 0  # by the young generation

    @property
    def capacity(self) -> int:
        """Return how many keys all generations hold."""
        return self._room * GENERATIONS

    def knows(self, keys: Keys) -> Flags:
        """Return for each key whether a generation has it."""
        found: Flags = self._planes(places_of(keys, self._hashes, self._cells.size)) != 0
        return found

    def add(self, keys: Keys) -> None:
        """Remember keys, in order."""
        while len(keys):
            # No more at a time than the young generation has room for.
            taken, keys = keys[: self._room - self._held], keys[self._room - self._held :]
            places = places_of(taken, self._hashes, self._cells.size)
            bit = np.uint8(1 << self._young)
            absent = places[(self._planes(places) & bit) == 0]
            self._cells[absent] |= bit
            self._held += len(absent)
            if self._held >= self._room:
                self._rotate()

    def _planes(self, places: Places) -> NDArray[np.uint8]:
        planes: NDArray[np.uint8] = np.bitwise_and.reduce(self._cells[places], axis=1)
        return planes

    def _rotate(self) -> None:
        self._young = (self._young + 1) % GENERATIONS
        self._cells &= np.uint8(0xFF ^ (1 << self._young))
        self._held = 0


def decrements(fp_rate: float, hashes: int, counters: int) -> float:
    """Return p, the best number of counters to decrement for each key.

    Source: seed 003, formula 3, in which the exponent 1/Max lost its sign in print; this is formula
    17 of Deng and Rafiei. For k = 8, 0.001 % and Max = 3 it is 84.73.
    """
    zeros = 1.0 - math.pow(fp_rate, 1.0 / hashes)
    return 1.0 / ((math.pow(zeros, -1.0 / MAX) - 1.0) * (1.0 / hashes - 1.0 / counters))


class StableBloomLight:
    """Fulfils `Filter`."""

    def __init__(self, counters: int, fp_rate: float, hashes: int) -> None:
        """counters: m, a power of two of 32 to 2^32."""
        self._words = np.zeros(counters // _PER_WORD, "<u8")
        self._bytes = self._words.view(np.uint8)
        self._hashes = hashes
        self.counters = counters
        self.p = decrements(fp_rate, hashes, counters)
        self._owed = 0.0  # the fraction of p that was not decremented yet
        self._batch = max(1, math.floor(counters / self.p / _ROUND_SHARE))
        self._next = 0  # counter to decrement

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
        """Take 1 from the next counters, those above 0; 32 of them at once.

        After three times round all are 0, and more changes nothing.
        """
        count = min(count, MAX * self.counters)
        while count > 0:
            end = min(self._next + count, self.counters)
            self._take_row(self._next, end)
            count -= end - self._next
            self._next = end % self.counters

    def _values(self, places: Places) -> NDArray[np.uint8]:
        shift = ((places & 3) * 2).astype(np.uint8)
        values: NDArray[np.uint8] = (self._bytes[places >> 2] >> shift) & np.uint8(MAX)
        return values

    def _set(self, places: Places) -> None:
        slot = places & 3
        for number in range(_PER_BYTE):
            self._bytes[places[slot == number] >> 2] |= np.uint8(MAX << (2 * number))

    def _take_row(self, start: int, end: int) -> None:
        first, last = start // _PER_WORD, (end - 1) // _PER_WORD
        words = self._words[first : last + 1]
        one = (words | (words >> _ONE)) & _ODD_BITS  # of each counter above 0
        one[0] &= np.uint64((0xFFFF_FFFF_FFFF_FFFF << 2 * (start % _PER_WORD)) & (2**64 - 1))
        one[-1] &= np.uint64(0xFFFF_FFFF_FFFF_FFFF >> 2 * (_PER_WORD - 1 - (end - 1) % _PER_WORD))
        words -= one
