"""The jobs whose addresses are not in memory: before their first turn, and between two turns.

Of a million hosts some thousands are in memory at a time. The others are no objects:

- Jobs before their first turn: 24 bytes each, packed. The ledger knows where they are, and here
  stands, by the number of the job, at which address (a hash), how much work it is, and since when
  it waits. Their addresses have their first turns in the order in which they came; of those that
  came in the same second, those first that will take longest.
- Addresses between two turns: a record each (`records`), by the hash of the address.

Invariant: an address is unloaded with all of its jobs, or with none.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from struct import Struct
from typing import Final, NamedTuple

import numpy as np

from agent.modules.frontier.gates import Gate

__all__ = ["Head", "Unloaded", "key_of"]

CHOSEN_AT_ONCE: Final = 1 << 16
_HEAD: Final = Struct("<ddiB")  # and the bytes of the name, so many
STALE: Final = 16  # addresses are counted again when a sixteenth of the jobs came, went or grew


class Head(NamedTuple):
    """Part of a record that is read while its address stays unloaded."""

    due_s: float  # when it has its turn; `inf`: nothing of it waits
    work: float  # how long what it has left to do takes, in seconds
    strikes: int
    name: str


@dataclass(slots=True)
class Changes:
    """Changes of jobs while they were unloaded, by number."""

    left: dict[int, None] = field(default_factory=dict)  # the list, before they were closed
    grown: set[int] = field(default_factory=set)  # have more in their queues than before
    altered: set[int] = field(default_factory=set)  # have another order


class Unloaded:
    """Jobs by number. Numbers of one round follow each other, so they are places, too."""

    def __init__(self) -> None:
        self._first = 0  # number of the first place
        self._keys = array("q")  # hash of the address; 0: none
        self._work = array("f")  # of a job before its first turn, more than 0
        self._since = array("f")  # seconds since `_begun_s`
        self._begun_s: float | None = None
        self._order: list[int] = []  # numbers, one of each address, the next one last
        self._changes = 0  # since the addresses were counted
        self._addresses = 0
        self._fresh = 0  # jobs before their first turn
        self._records: dict[int, bytes] = {}
        self.gates: dict[int, Gate] = {}  # of addresses with records, by key
        self._idle: set[int] = set()  # keys of addresses with a job of which nothing waits
        self.jobs = 0
        self.changes = Changes()

    @property
    def addresses(self) -> int:
        """Return how many addresses are unloaded; where there are many, as of a moment ago."""
        if self._changes > self._fresh // STALE:
            self._changes = 0
            keys = np.frombuffer(self._keys, np.int64)
            self._addresses = len(np.unique(keys[np.frombuffer(self._work, np.float32) > 0]))
        return min(self._addresses, self._fresh) + len(self._records)

    # before the first turn

    def enter(self, number: int, address: str, work: float, now_s: float) -> None:
        """Take a job in; one that is here is put to the address."""
        place = self._make_place(number)
        if self._begun_s is None:
            self._begun_s = now_s
        if not self._keys[place]:
            self.jobs += 1
            self._fresh += 1
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
        self.jobs = self._fresh = self._changes = len(numbers)

    def grow(self, number: int, work: float) -> None:
        """Note that a job before its first turn has more to do."""
        self._work[number - self._first] += work

    def since_s(self, number: int) -> float:
        """Return when a job came, or later by a second at most."""
        waited_s = self._since[number - self._first]
        return (self._begun_s or 0.0) + waited_s * (1 + 1e-6)

    def next_number(self) -> int:
        """Return a job of the address whose first turn is next; 0: none waits for its first."""
        while self._fresh:
            while self._order:
                if self.is_fresh(self._order[-1]):
                    return self._order[-1]
                self._order.pop()
            self._put_in_order()
        return 0

    def is_fresh(self, number: int) -> bool:
        """Return whether a job waits for the first turn of its address."""
        place = number - self._first
        return 0 <= place < len(self._keys) and self._work[place] > 0

    # between two turns

    def keep(
        self, key: int, numbers: list[int], head: Head, record: bytes, *, is_idle: bool
    ) -> None:
        """Take in an address with all its jobs, which had turns. Its key must be free.

        is_idle: nothing of one of these jobs waits.
        """
        for number in numbers:
            self._keys[self._make_place(number)] = key
        self.jobs += len(numbers)
        name = head.name.encode()
        self._records[key] = _HEAD.pack(*head[:3], len(name)) + name + record
        if is_idle:
            self._idle.add(key)

    def is_idle(self, key: int) -> bool:
        """Return whether nothing of a job of an address waited when it was unloaded."""
        return key in self._idle

    def has(self, key: int) -> bool:
        """Return whether there is a record of an address."""
        return key in self._records

    def head(self, key: int) -> Head | None:
        """Return the head of the record of an address; None: no record."""
        record = self._records.get(key)
        if record is None:
            return None
        due_s, work, strikes, size = _HEAD.unpack_from(record)
        return Head(due_s, work, strikes, record[_HEAD.size : _HEAD.size + size].decode())

    def record(self, key: int) -> memoryview | None:
        """Return the record of an address behind its head, and leave it here."""
        record = self._records.get(key)
        if record is None:
            return None
        return memoryview(record)[_HEAD.size + record[_HEAD.size - 1] :]

    def drop_record(self, key: int) -> None:
        """Drop the record of an address; its jobs are to `leave`."""
        self._idle.discard(key)
        self.gates.pop(key, None)
        del self._records[key]

    # both

    def leave(self, number: int) -> bool:
        """Drop a job; return whether it was here."""
        if number not in self:
            return False
        place = number - self._first
        if self._work[place] > 0:
            self._fresh -= 1
            self._changes += 1
        self._keys[place] = 0
        self._work[place] = 0.0
        self.jobs -= 1
        return True

    def __contains__(self, number: int) -> bool:
        place = number - self._first
        return 0 <= place < len(self._keys) and self._keys[place] != 0

    def key(self, number: int) -> int:
        """Return the key of the address of a job that is here."""
        return self._keys[number - self._first]

    def is_at(self, number: int, address: str) -> bool:
        """Return whether a job is here, at an address."""
        return number in self and self._keys[number - self._first] == key_of(address)

    def any_at(self, address: str) -> bool:
        """Return whether any job is here, at an address; looks through all."""
        key = key_of(address)
        if key in self._records or not self._fresh:
            return key in self._records
        return bool(np.any(np.frombuffer(self._keys, np.int64) == key))

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

    def _put_in_order(self) -> None:
        """Put those addresses in order whose first turns are next."""
        work = np.frombuffer(self._work, np.float32)
        places = np.flatnonzero(work > 0)
        keys = np.frombuffer(self._keys, np.int64)[places]
        by_address = np.argsort(keys, kind="stable")
        places, keys = places[by_address], keys[by_address]
        begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        sums = np.add.reduceat(work[places].astype(np.float64), begins)
        firsts = np.minimum.reduceat(places, begins)
        since = np.floor(np.frombuffer(self._since, np.float32)[firsts])
        # Of equals the one that came first.
        chosen = np.lexsort((firsts, -sums, since))[:CHOSEN_AT_ONCE]
        self._order = (firsts[chosen[::-1]] + self._first).tolist()


def key_of(address: str) -> int:
    """Return the key of an address: its hash in this process, never 0."""
    return hash(address) or 1
