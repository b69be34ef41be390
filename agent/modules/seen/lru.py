"""The last keys that were met: two generations of a set, or an LRU alone or before a filter.

Seed 003, figure 4: a key that is met moves to the front; one that is pushed out at the end goes
into the filter. What neither knows is new.

Promise of `Generations`: no false positive; the last `size / 2` different keys are known.
Promise of `Lru`: no false positive; the last `size` different keys are known. `Layered` adds the
filter's mistakes, but never about the last `size` keys.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from agent.modules.recent_memory import Recent
from agent.modules.seen.interface import Filter, as_keys

__all__ = ["Generations", "Layered", "Lru"]


class Generations:
    """Two generations of a Python set (`agent.modules.recent_memory`). Fulfils `Seen`."""

    def __init__(self, size: int) -> None:
        """size: keys that are remembered at most."""
        self._recent = Recent(size)

    def meet(self, keys: Sequence[int]) -> list[bool]:
        """Meet keys; return for each whether it was known."""
        add = self._recent.add
        return [not add(key) for key in keys]

    def forget(self, key: int) -> None:
        """Take a key out."""
        self._recent.forget(key)


class Lru:
    """Fulfils `Seen`."""

    def __init__(self, size: int) -> None:
        """size: keys that are remembered."""
        self.size = max(1, size)
        self._keys: OrderedDict[int, None] = OrderedDict()

    def meet(self, keys: Sequence[int]) -> list[bool]:
        """Meet keys; return for each whether it was known."""
        return self.meet_and_push(keys)[0]

    def meet_and_push(self, keys: Sequence[int]) -> tuple[list[bool], list[int]]:
        """Meet keys; return for each whether it was known, and the keys pushed out, in order."""
        held, room = self._keys, self.size
        known, pushed_out = [], []
        for key in keys:
            if key in held:
                held.move_to_end(key)
                known.append(True)
                continue
            known.append(False)
            held[key] = None
            if len(held) > room:
                pushed_out.append(held.popitem(last=False)[0])
        return known, pushed_out

    def forget(self, key: int) -> None:
        """Take a key out."""
        self._keys.pop(key, None)


class Layered:
    """An LRU, and behind it a filter. Fulfils `Seen`."""

    def __init__(self, size: int, behind: Filter) -> None:
        """size: of the LRU. behind: takes what leaves it."""
        self._first = Lru(size)
        self.behind = behind

    def meet(self, keys: Sequence[int]) -> list[bool]:
        """Meet keys; return for each whether it was known."""
        known: list[bool] = []
        # No more at a time than the LRU holds: none of them must be pushed out, enter the filter,
        # and then be found there by its own question.
        for start in range(0, len(keys), self._first.size):
            known += self._meet(keys[start : start + self._first.size])
        return known

    def _meet(self, keys: Sequence[int]) -> list[bool]:
        known, pushed_out = self._first.meet_and_push(keys)
        self.behind.add(as_keys(pushed_out))
        unsure = [index for index, is_known in enumerate(known) if not is_known]
        found = self.behind.knows(as_keys([keys[index] for index in unsure]))
        for index in np.flatnonzero(found).tolist():
            known[unsure[index]] = True
        return known

    def forget(self, key: int) -> None:
        """Take a key out of the LRU, where those of the last call are."""
        self._first.forget(key)
