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
        "how URLs that were seen are held in memory: docs/adr/0045 has the others, whose filters "
        "miss 0.001 %",
    )
