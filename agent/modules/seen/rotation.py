"""Bloom filters of which the oldest is forgotten: eight generations in the bits of each byte.

All generations use the same places, so one look at a key's bytes, and their bitwise AND, asks all
of them. A key is entered only if the young generation does not have it; when that is full, the
oldest is wiped and becomes the young one.

Promise: the last 7/8 of `capacity` different keys are known; a key that was never added is taken
for known with a chance of at most `fp_rate`.
Source: Bloom (1970); generations as in Metwally et al. (2005), reference 1 of seed 003.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agent.modules.seen.interface import Flags, Keys
from agent.modules.seen.places import Places, places_of

__all__ = ["RotatingBloom", "best_hashes", "keys_for"]

GENERATIONS: Final = 8


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
    def nbytes(self) -> int:
        """Return the bytes of all generations."""
        return int(self._cells.nbytes)

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
