"""Partition of a key: the runner routes by it, and a module recovers by it.

Invariant: the choice is a hash that does not change from run to run.
Source: seed 000, section 4.3 (hash of host, URL or IP address).
"""

from __future__ import annotations

import zlib

from shared.frozen import frozen

__all__ = ["Partition", "partition_of"]


@frozen
class Partition:
    """One of the `count` partitions of a module."""

    number: int = 0
    count: int = 1

    def holds(self, key: str) -> bool:
        """Return whether messages with this key come here."""
        return partition_of(key, self.count) == self.number


def partition_of(key: str, count: int) -> int:
    """Return the number of the partition for a key, from 0: of a clock, that of its address."""
    key = key.partition(" ")[0] if count > 1 else key
    return zlib.crc32(key.encode("utf-8", "surrogatepass")) % count if count > 1 else 0
