"""A memory of recent keys, in bounded space.

Two generations: a new key is in the young one; when that is full, it becomes the old one, and
the old one is forgotten. What is met again is young again. So at least `size / 2` and at most
`size` different keys are remembered, for one or two set look-ups each and without the links of an
LRU list; what is met more often than that is never forgotten, as in an LRU.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

__all__ = ["Recent"]

FEW: Final = 8


class Recent:
    """A set that forgets keys that were not met for long."""

    def __init__(self, size: int) -> None:
        self._half = max(1, size // 2)
        self._young: set[Hashable] = set()
        self._old: set[Hashable] = set()

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def __contains__(self, key: object) -> bool:
        return key in self._young or key in self._old

    def unknown(self, texts: Sequence[str]) -> list[str]:
        """Return those whose hashes are not remembered, each once."""
        keys = list(map(hash, texts))
        unknown = set(keys).difference(self._young, self._old)
        if not unknown:  # nearly always: most links of a page were on the page before
            return []
        by_key = dict(zip(keys, texts, strict=True))
        if len(unknown) <= FEW:  # to look for each is quicker then than to go through all
            return [by_key[key] for key in sorted(unknown, key=keys.index)]
        return [text for key, text in by_key.items() if key in unknown]

    def enter(self, key: Hashable) -> None:
        """Remember a key that is not remembered."""
        if len(self._young) >= self._half:
            self._old, self._young = self._young, {key}
        else:
            self._young.add(key)

    def add(self, key: Hashable) -> bool:
        """Remember a key; tell whether it was new, as far as is remembered."""
        young = self._young
        if key in young:
            return False
        if len(young) >= self._half:
            self._old, self._young = young, set()
            young = self._young
            known = key in self._old
        else:
            known = key in self._old
        young.add(key)
        self._old.discard(key)
        return not known

    def forget(self, key: Hashable) -> None:
        """Take a key out."""
        self._young.discard(key)
        self._old.discard(key)
