"""Memories and filters that no agent can be set to use: what those are measured by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agent.modules.seen.bloom import Places, StableBloomLight

__all__ = ["Exact", "SinglyDecremented", "StableBloom"]


class Exact:
    """Every key, for ever, in one Python set: no mistake at all. Fulfils `Seen`."""

    def __init__(self) -> None:
        self._keys: set[int] = set()

    def meet(self, keys: Sequence[int]) -> list[bool]:
        """Meet keys; return for each whether it was known."""
        met = self._keys
        known = []
        for key in keys:
            known.append(key in met)
            met.add(key)
        return known

    def forget(self, key: int) -> None:
        """Take a key out."""
        self._keys.discard(key)


class SinglyDecremented(StableBloomLight):
    """The filter that goes round, counter by counter, for the source's table 1."""

    def values(self) -> NDArray[np.uint8]:
        """Return all counters, unpacked: four times the memory."""
        return self._values(np.arange(self.counters))

    def decrement_singly(self, count: int) -> None:
        """Take 1 from the next counters, those above 0."""
        places = np.arange(self._next, self._next + count) % self.counters
        self._take_one(places)
        self._next = (self._next + count) % self.counters

    def _take_one(self, places: Places) -> None:
        # One counter of each byte at a time: a byte must not be read before it was written.
        while places.size:
            _, first = np.unique(places >> 2, return_index=True)
            chosen = places[first]
            shift = ((chosen & 3) * 2).astype(np.uint8)
            one = (self._values(chosen) != 0).astype(np.uint8) << shift
            self._bytes[chosen >> 2] -= one
            places = np.delete(places, first)


class StableBloom(SinglyDecremented):
    """The filter with random decrements (Deng and Rafiei, 2006). Fulfils `Filter`."""

    def __init__(self, counters: int, fp_rate: float, hashes: int, seed: int = 0) -> None:
        """counters: m, a power of two of 32 to 2^32. seed: of the Mersenne Twister."""
        super().__init__(counters, fp_rate, hashes)
        self._random = np.random.Generator(np.random.MT19937(seed))

    def decrement(self, count: int) -> None:
        """Take 1 from so many counters, chosen at random, those above 0."""
        self._take_one(self._random.integers(0, self.counters, count, np.int64))
