"""Positions of a key's counters or bits in a filter.

Two halves of the mixed key give all places by double hashing: Kirsch and Mitzenmacher, "Less
hashing, same performance: building a better Bloom filter" (2006). In a small filter two keys may
have the same halves, so a third part of the key comes in (triple hashing: Dillinger and Manolios,
2004); without it, 2^14 places were wrong five times as often as they should.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agent.modules.seen.interface import Keys

__all__ = ["Places", "mixed", "places_of"]

Places: TypeAlias = NDArray[np.int64]

_HALF: Final = np.uint64(32)
_QUARTER: Final = np.uint64(16)
_LOW: Final = np.uint64(0xFFFF_FFFF)


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
