"""The memories by name, each with the settings that were measured.

All but those with a filter decide without any false positive. For those with one, seed 003's LRU
and at most as many bytes of filter as an LRU's keys would take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from agent.modules.seen.buckets import Buckets
from agent.modules.seen.generations import Generations
from agent.modules.seen.interface import Seen
from agent.modules.seen.lru import Layered, Lru
from agent.modules.seen.pairs import Pairs
from agent.modules.seen.rotation import RotatingBloom
from agent.modules.seen.stable import StableBloomLight

__all__ = ["STRUCTURES", "make_seen"]

FP_RATE: Final = 1e-5
SBFL_HASHES: Final = 8
LEAST: Final = 1 << 10


def _with_sbfl(size: int) -> Seen:
    # 16 counters, 4 bytes, for each key of the LRU.
    return Layered(size, StableBloomLight(_power(size) * 16, FP_RATE, SBFL_HASHES))


def _with_rotating(size: int) -> Seen:
    return Layered(size, RotatingBloom(_power(size) * 4, FP_RATE))


def _power(size: int) -> int:
    return 1 << (max(LEAST, size).bit_length() - 1)


STRUCTURES: Final[Mapping[str, Callable[[int], Seen]]] = MappingProxyType(
    {
        "pairs": Pairs,
        "buckets": Buckets,
        "generations": Generations,
        "lru": Lru,
        "lru+sbfl": _with_sbfl,
        "lru+rotating": _with_rotating,
    }
)
"""From the number of keys that are held exactly to an empty memory."""


def make_seen(name: str, size: int) -> Seen:
    """Return an empty memory. Raises KeyError for an unknown name."""
    return STRUCTURES[name](size)
