"""Interface of filters of seen keys, and the kinds of error they may make.

A *false negative* (a key that was met, and is taken for new) costs a question to the exact set on
disk, nothing else. A *false positive* (a new key taken for met) costs a page of this round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Filter", "Flags", "Keys", "Seen", "as_keys"]

Keys: TypeAlias = NDArray[np.uint64]
Flags: TypeAlias = NDArray[np.bool_]


class Seen(Protocol):
    """Meets keys, and tells which of them it had met."""

    def meet(self, keys: Sequence[int]) -> list[bool]:
        """Meet 64-bit keys, signed or not, in order; return for each whether it was known.

        A key that comes twice in one call is known the second time.
        """

    def forget(self, key: int) -> None:
        """Take a key out that was met in the last call; it is new again."""


class Filter(Protocol):
    """Takes keys that leave a `Seen`, a batch at a time; may forget and may be wrong."""

    def knows(self, keys: Keys) -> Flags:
        """Return for each key whether it counts as known."""

    def add(self, keys: Keys) -> None:
        """Remember keys, in order."""


def as_keys(keys: Sequence[int]) -> Keys:
    """Return Python's integers, of -2^63 to 2^63 - 1 as `hash` gives them, as keys."""
    return np.array(keys, np.int64).view(np.uint64)
