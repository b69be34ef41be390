"""Settings of the agent: what is remembered of pages."""

from __future__ import annotations

from shared.frozen import frozen
from shared.settings import Range, setting

__all__ = ["MemorySettings"]


@frozen
class MemorySettings:
    """Sizes of memories that spare the disk and the name servers."""

    seen_urls: int = setting(
        1 << 21,
        Range("URLs", 1, 1 << 30),
        "how many URLs that were seen are in memory, a power of two, 8 bytes each; the disk is "
        "asked about others",
    )
    foreign_urls: int = setting(
        1 << 18,
        Range("URLs", 1, 1 << 28),
        "how many reported pages of other agents are in memory, a power of two, 8 bytes each; "
        "others are reported again when they are met again",
    )
    hosts: int = setting(
        1 << 20,
        Range("hosts", 1, 1 << 28),
        "how many hosts without work have their addresses in memory, 20 bytes each; no name server "
        "is asked again",
    )
    addresses: int = setting(
        4_000,
        Range("addresses", 0, 1 << 24),
        "how many addresses stay in memory between two requests, 4 KB each; of more there are "
        "records of 0.3 KB, and each one is loaded for its turn",
    )
    seen_url_filter: str = setting(
        "pairs",
        "name",
        "how URLs that were seen are held in memory: pairs, buckets, generations and lru make no "
        "mistake; lru+sbfl and lru+rotating put a filter behind an LRU, which holds more URLs in "
        "as much memory and takes a few new URLs for seen (docs/adr/0045)",
    )
    seen_url_hashes: int = setting(
        0,
        Range("hashes", 0, 32),
        "k of that filter: how many counters a URL sets; 0: as many as suit it, 8 for lru+sbfl; "
        "seed 003 has 8 for 0.001% and 4 for 1%",
    )
    seen_url_counters: int = setting(
        0,
        Range("counters", 0, 1 << 32),
        "how many counters of two bits that filter has, four in a byte, rounded down to a power of "
        "two from 1024; 0: 16 for each of seen_urls",
    )
    seen_url_false_positive_rate: float = setting(
        1e-5,
        Range("share", 1e-9, 0.5),
        "which share of new URLs that filter takes for seen at most: such a page is fetched in a "
        "later round; seed 003 has 0.00001 and 0.01, and with more the filter remembers longer",
    )
