"""Memories of seen keys: they answer before the exact set on disk is asked.

    interface.py     `Seen` (decides about links) and `Filter` (stands behind a `Seen`)
    pairs.py         a table of 64-bit keys, two places for each: the default
    buckets.py       the same with eight places, by numpy, and tags of 64 or 32 bits
    lru.py           the last N keys; two generations, or an LRU alone or before a filter
    bloom.py         eight Bloom filters, the oldest forgotten; Stable Bloom Filter Light

Keys are 64-bit hashes of (job, URL) with this process's secret. So nothing here survives a
process, no outsider can choose keys that collide, and since each round gives its units new
jobs, a page that a filter took for known by mistake has another key in the next round.
All but those with a filter decide without any false positive. Those with one have seed 003's LRU
before it; hashes, counters and rate of false positives of the filter are settings.
`make bench-dedup` measures all of them. Source: seed 003.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from agent.modules.limits import SeenUrls
from agent.modules.seen.bloom import RotatingBloom, StableBloomLight
from agent.modules.seen.buckets import Buckets
from agent.modules.seen.interface import Filter, Flags, Keys, Seen
from agent.modules.seen.lru import Generations, Layered, Lru
from agent.modules.seen.pairs import Pairs

__all__ = ["STRUCTURES", "Filter", "Flags", "Keys", "Seen", "make_seen"]

SBFL_HASHES: Final = 8
LEAST: Final = 1 << 10
COUNTERS_PER_URL: Final = 16
PER_BYTE: Final = 4


def _with_sbfl(asked: SeenUrls) -> Seen:
    hashes = asked.hashes or SBFL_HASHES
    return Layered(
        asked.urls, StableBloomLight(_counters(asked), asked.false_positive_rate, hashes)
    )


def _with_rotating(asked: SeenUrls) -> Seen:
    size_bytes = _counters(asked) // PER_BYTE
    filter_ = RotatingBloom(size_bytes, asked.false_positive_rate, asked.hashes or None)
    return Layered(asked.urls, filter_)


def _counters(asked: SeenUrls) -> int:
    """Return the counters of a filter: a power of two, as many as fit or fewer."""
    if asked.counters:
        return _power(asked.counters)
    return _power(asked.urls) * COUNTERS_PER_URL


def _power(size: int) -> int:
    return 1 << (max(LEAST, size).bit_length() - 1)


STRUCTURES: Final[Mapping[str, Callable[[SeenUrls], Seen]]] = MappingProxyType(
    {
        "pairs": lambda asked: Pairs(asked.urls),
        "buckets": lambda asked: Buckets(asked.urls),
        "generations": lambda asked: Generations(asked.urls),
        "lru": lambda asked: Lru(asked.urls),
        "lru+sbfl": _with_sbfl,
        "lru+rotating": _with_rotating,
    }
)
"""By name, the function that makes an empty memory."""


def make_seen(asked: SeenUrls) -> Seen:
    """Return an empty memory. Raises KeyError for an unknown structure."""
    return STRUCTURES[asked.structure](asked)
