"""Filters of seen keys: they answer before the exact set on disk is asked.

    interface.py     `Seen` (decides about links) and `Filter` (stands behind an `Seen`)
    pairs.py         a table of 64-bit keys, two places for each: the default
    buckets.py       the same with eight places, by numpy, and tags of 64 or 32 bits
    generations.py   two sets, the older of which is forgotten as a whole
    lru.py           the last N keys; alone or before a filter
    rotating.py      eight Bloom filters in the bits of a byte, the oldest forgotten
    stable.py        Stable Bloom Filter, and Stable Bloom Filter Light
    exact.py         everything, for ever: what the others are measured by
    choice.py        by name

Keys are 64-bit hashes of (job, URL) with this process's secret. So nothing here survives a
process, no outsider can choose keys that collide, and since each round gives its units new
jobs, a page that a filter took for known by mistake has another key in the next round.
`make bench-dedup` measures all of them. Source: seed 003.
"""

from agent.modules.seen.choice import STRUCTURES, make_seen
from agent.modules.seen.interface import Filter, Flags, Keys, Seen

__all__ = ["STRUCTURES", "Filter", "Flags", "Keys", "Seen", "make_seen"]
