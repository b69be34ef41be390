"""Two generations of a Python set (`agent.modules.recent_memory`) as a memory of keys.

Promise: no false positive; the last `size / 2` different keys are known.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from agent.modules.recent_memory import Recent

__all__ = ["Generations"]

INTEGER_BYTES: Final = sys.getsizeof(1 << 62)


class Generations:
    """Fulfils `Seen`."""

    def __init__(self, size: int) -> None:
        """size: keys that are remembered at most."""
        self._recent = Recent(size)

    @property
    def nbytes(self) -> int:
        """Return the bytes of both sets and the integers in them."""
        return self._recent.table_bytes + INTEGER_BYTES * len(self._recent)

    def meet(self, keys: Sequence[int]) -> list[bool]:
        """Meet keys; return for each whether it was known."""
        add = self._recent.add
        return [not add(key) for key in keys]

    def forget(self, key: int) -> None:
        """Take a key out."""
        self._recent.forget(key)
