"""Every key, for ever, in one Python set: what the others are measured by.

Promise: no mistake at all. It grows with the crawl, so it is not offered as a setting.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from agent.modules.seen.generations import INTEGER_BYTES

__all__ = ["Exact"]


class Exact:
    """Fulfils `Seen`."""

    def __init__(self) -> None:
        self._keys: set[int] = set()

    @property
    def nbytes(self) -> int:
        """Return the bytes of the set and its integers."""
        return sys.getsizeof(self._keys) + INTEGER_BYTES * len(self._keys)

    def meet(self, keys: Sequence[int]) -> list[bool]:
        """Meet keys; return for each whether it was known."""
        met = self._keys
        known = []
        for key in keys:
            known.append(key in met)
            met.add(key)
        return known

    def forget(self, key: int) -> None:
        """Take a key out."""
        self._keys.discard(key)
