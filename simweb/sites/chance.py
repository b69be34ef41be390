"""Draws that depend on their key alone: the same seed and key give the same number for ever.

A draw needs no state, so page 41 of host 17 is known without making the pages before it.
`random.Random` is not used: seeding it costs more than a page, and only part of it is promised
to stay the same between Python versions.
"""

from __future__ import annotations

from hashlib import blake2b
from statistics import NormalDist

__all__ = ["Stream", "draw", "draw64", "normal", "shuffled", "whole"]

_MASK = (1 << 64) - 1
_NORMAL = NormalDist()


def draw64(*key: int | str) -> int:
    """Return 64 random bits that are a function of the key."""
    text = "\x1f".join(map(str, key))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def draw(*key: int | str) -> float:
    """Return a number in [0, 1) that is a function of the key."""
    return (draw64(*key) >> 11) / (1 << 53)


def normal(*key: int | str) -> float:
    """Return a standard normal deviate that is a function of the key."""
    return _NORMAL.inv_cdf((draw64(*key) + 0.5) / (1 << 64))


def whole(expected: float, *key: int | str) -> int:
    """Round to a neighbouring whole number so that the mean over many keys is `expected`."""
    return int(expected + draw(*key))


def shuffled(count: int, *key: int | str) -> list[int]:
    """Return 0..count-1 in an order that is a function of the key."""
    stream = Stream(draw64(*key))
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = stream.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


class Stream:
    """Many draws from one key, cheaply: SplitMix64 (Steele, Lea, Flood 2014)."""

    __slots__ = ("_state",)

    def __init__(self, key: int) -> None:
        self._state = key & _MASK

    def bits(self) -> int:
        """Return the next 64 bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)

    def below(self, limit: int) -> int:
        """Return a whole number in [0, limit); the bias is under limit / 2^64."""
        return (self.bits() * limit) >> 64

    def unit(self) -> float:
        """Return a number in [0, 1)."""
        return (self.bits() >> 11) / (1 << 53)
