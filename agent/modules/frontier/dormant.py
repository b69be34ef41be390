"""The jobs whose addresses have not had a place in this process yet: 24 bytes each, packed.

Of a million hosts two hundred are crawled at a time. Those that wait for their first turn are no
objects: the ledger knows where they are, and here stands, by the number of the job, at which
address (a hash), how much work it is, and since when it waits. An address is chosen by the work of
all its jobs together; the sums are made for many choices at once.

Invariant: an address is dormant with all of its jobs, or with none.
"""

from __future__ import annotations

from array import array
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dormant", "key_of"]

CHOSEN_AT_ONCE: Final = 4096
STALE: Final = 16  # the order is made again when a sixteenth of the jobs came, went or grew


class Dormant:
    """Jobs by number. Numbers of one round follow each other, so they are places, too."""

    def __init__(self) -> None:
        self._first = 0  # number of the first place
        self._keys = array("q")  # hash of the address; 0: none
        self._work = array("f")
        self._since = array("f")  # seconds since `_begun_s`
        self._begun_s: float | None = None
        self._order: list[int] = []  # numbers, one of each address, the most work last
        self._sums: dict[int, float] = {}  # by number, of those
        self._changes = 0  # since the order was made
        self._addresses = 0
        self.jobs = 0

    @property
    def addresses(self) -> int:
        """Return how many addresses wait; where there are many, as of a moment ago."""
        self._look()
        return min(self._addresses, self.jobs)

    def enter(self, number: int, address: str, work: float, now_s: float) -> None:
        """Take a job in; one that is here is put to the address."""
        place = self._make_place(number)
        if self._begun_s is None:
            self._begun_s = now_s
        if not self._keys[place]:
            self.jobs += 1
        self._keys[place] = key_of(address)
        self._work[place] = work
        self._since[place] = now_s - self._begun_s
        self._changes += 1

    def fill(self, numbers: array[int], keys: array[int], work: array[float], now_s: float) -> None:
        """Take many jobs in at once, where none ever were: their addresses by `key_of`."""
        assert self._begun_s is None
        if not numbers:
            return
        at = np.frombuffer(numbers, np.int64)
        self._first, size = int(at.min()), int(at.max() - at.min()) + 1
        for values, given in ((self._keys, keys), (self._work, work), (self._since, None)):
            table = np.zeros(size, values.typecode)
            if given is not None:
                table[at - self._first] = np.frombuffer(given, values.typecode)
            values.frombytes(table.tobytes())
        self._begun_s = now_s
        self.jobs = self._changes = len(numbers)

    def leave(self, number: int) -> bool:
        """Drop a job; return whether it was here."""
        if number not in self:
            return False
        place = number - self._first
        self._keys[place] = 0
        self._work[place] = 0.0
        self.jobs -= 1
        self._changes += 1
        return True

    def __contains__(self, number: int) -> bool:
        place = number - self._first
        return 0 <= place < len(self._keys) and self._keys[place] != 0

    def is_at(self, number: int, address: str) -> bool:
        """Return whether a job waits at an address."""
        return number in self and self._keys[number - self._first] == key_of(address)

    def any_at(self, address: str) -> bool:
        """Return whether any job waits at an address; looks through all."""
        if not self.jobs:
            return False
        return bool(np.any(np.frombuffer(self._keys, np.int64) == key_of(address)))

    def grow(self, number: int, work: float) -> None:
        """Note that a job has more to do."""
        self._work[number - self._first] += work
        self._changes += 1

    def since_s(self, number: int) -> float:
        """Return when a job came, or later by a second at most."""
        waited_s = self._since[number - self._first]
        return (self._begun_s or 0.0) + waited_s * (1 + 1e-6)

    def best(self) -> tuple[float, int]:
        """Return the work of the address that has the most, and one of its jobs; (0, 0): none."""
        self._look()
        while self._order:
            number = self._order[-1]
            if number in self:
                return self._sums[number], number
            self._order.pop()
            if not self._order:
                self._changes = self.jobs + 1
                self._look()
        return 0.0, 0

    def forget_room(self) -> None:
        """Give back the room of numbers that are gone, as with a new list."""
        keys = np.frombuffer(self._keys, np.int64)
        held = np.flatnonzero(keys)
        first = int(held[0]) if len(held) else len(keys)
        del keys  # an array with an open view cannot shrink
        for values in (self._keys, self._work, self._since):
            del values[:first]
        self._first += first
        if not len(self._keys):
            self._first = 0

    def _make_place(self, number: int) -> int:
        if not self._keys:
            self._first = number
        before = self._first - number
        if before > 0:
            for values in (self._keys, self._work, self._since):
                values[:0] = array(values.typecode, bytes(values.itemsize * before))
            self._first = number
        place = number - self._first
        room = place + 1 - len(self._keys)
        if room > 0:
            for values in (self._keys, self._work, self._since):
                values.frombytes(bytes(values.itemsize * room))
        return place

    def _look(self) -> None:
        """Put the addresses in order, where enough has changed."""
        if self._changes <= self.jobs // STALE and (self._order or not self.jobs):
            return
        self._changes = 0
        keys = np.frombuffer(self._keys, np.int64)
        places = np.flatnonzero(keys)
        if not len(places):
            self._addresses, self._order, self._sums = 0, [], {}
            return
        by_address = np.argsort(keys[places])
        places = places[by_address]
        of_address = keys[places]
        work = np.frombuffer(self._work, np.float32)[places].astype(np.float64)
        begins = np.flatnonzero(np.append(True, of_address[1:] != of_address[:-1]))
        sums = np.add.reduceat(work, begins)
        numbers = np.minimum.reduceat(places, begins) + self._first
        self._addresses = len(sums)
        chosen = _most(sums, numbers)
        # Of equals the one that came first.
        chosen = chosen[np.lexsort((-numbers[chosen], sums[chosen]))]
        self._order = [int(one) for one in numbers[chosen]]
        self._sums = dict(zip(self._order, sums[chosen].tolist(), strict=True))


def _most(sums: NDArray[np.float64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of the greatest sums, at most `CHOSEN_AT_ONCE`, in any order."""
    if len(sums) <= CHOSEN_AT_ONCE:
        return np.arange(len(sums))
    least = np.partition(sums, -CHOSEN_AT_ONCE)[-CHOSEN_AT_ONCE]
    above, equal = np.flatnonzero(sums > least), np.flatnonzero(sums == least)
    room = CHOSEN_AT_ONCE - len(above)
    if len(equal) > room:
        equal = equal[np.argpartition(numbers[equal], room - 1)[:room]]
    return np.concatenate((above, equal))


def key_of(address: str) -> int:
    """Return the key of an address: its hash in this process, never 0."""
    return hash(address) or 1
