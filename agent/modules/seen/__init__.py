"""Memories of seen keys: they answer before the exact set on disk is asked.

    interface.py     `Seen` (decides about links) and `Filter` (stands behind a `Seen`)
    pairs.py         a table of 64-bit keys, two places for each: the default
    buckets.py       the same with eight places, by numpy, and tags of 64 or 32 bits
    lru.py           the last N keys; two generations, or an LRU alone or before a filter
    bloom.py         eight Bloom filters, the oldest forgotten; Stable Bloom Filter Light

Keys are 64-bit hashes of (job, URL) with this process's secret. So nothing here survives a
process, no outsider can choose keys that collide, and since each round gives its units new
jobs, a page that a filter took for known by mistake has another key in the next round.
All but those with a filter decide without any false positive. For those with one, seed 003's LRU
and at most as many bytes of filter as an LRU's keys would take.
`make bench-dedup` measures all of them. Source: seed 003.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from agent.modules.seen.bloom import RotatingBloom, StableBloomLight
from agent.modules.seen.buckets import Buckets
from agent.modules.seen.interface import Filter, Flags, Keys, Seen
from agent.modules.seen.lru import Generations, Layered, Lru
from agent.modules.seen.pairs import Pairs

__all__ = ["STRUCTURES", "Filter", "Flags", "Keys", "Seen", "make_seen"]

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
