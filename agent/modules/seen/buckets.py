"""A table of keys or tags with eight places for each, a batch at a time by numpy.

A key's bucket is one row; within it the one met last comes first, and the last is pushed out. With
tags of 32 bits a key takes 4 bytes, and a new key is taken for known with a chance of 8 in 2^32.

Promise: no false positive but for equal keys (64 bits) or tags (32 bits, one in 5 * 10^8).
What it may do: of two keys of one batch that share a bucket, one may be forgotten at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agent.modules.seen.interface import Flags, Keys, as_keys

__all__ = ["Buckets"]

WAYS: Final = 8
_COLUMNS: Final = np.arange(WAYS)
_TAG_SHIFT: Final = np.uint64(32)


class Buckets:
    """Fulfils `Seen`."""

    def __init__(self, size: int, tag_bits: int = 64) -> None:
        """size: keys that find room; rounded down to a power of two, at least 16.

        tag_bits: 64 or 32; with 32, at most 2^35 keys.
        """
        buckets = 1 << (max(16, size).bit_length() - 1) - 3
        self._mask = np.uint64(buckets - 1)
        self._short = tag_bits == 32
        self._table = np.zeros((buckets, WAYS), np.uint32 if self._short else np.uint64)

    def meet(self, keys: Sequence[int]) -> list[bool]:
        """Meet keys; return for each whether it was known."""
        once = dict.fromkeys(keys, False)
        if len(once) == len(keys):
            known: list[bool] = self.meet_once(as_keys(keys)).tolist()
            return known
        first = dict(zip(once, self.meet_once(as_keys(list(once))).tolist(), strict=True))
        known = []
        for key in keys:
            known.append(first[key])
            first[key] = True
        return known

    def meet_once(self, keys: Keys) -> Flags:
        """Meet keys that are all different."""
        tags, where = self._tags_of(keys)
        rows = self._table[where]
        same = rows == tags[:, None]
        known: Flags = same.any(axis=1)
        # Those before the place where it was, or all, move up by one; it comes first.
        place = np.where(known, same.argmax(axis=1), WAYS - 1)
        moved = np.empty_like(rows)
        moved[:, 0] = tags
        moved[:, 1:] = rows[:, :-1]
        self._table[where] = np.where(place[:, None] >= _COLUMNS, moved, rows)
        return known

    def forget(self, key: int) -> None:
        """Take a key out."""
        tags, where = self._tags_of(as_keys([key]))
        row = self._table[where[0]]
        row[row == tags[0]] = 0

    def _tags_of(self, keys: Keys) -> tuple[NDArray[Any], NDArray[np.intp]]:
        tags: NDArray[Any] = (keys >> _TAG_SHIFT).astype(np.uint32) if self._short else keys
        # 0 is an empty place; the key that has this tag shares the next one's.
        return np.maximum(tags, tags.dtype.type(1)), (keys & self._mask).astype(np.intp)
