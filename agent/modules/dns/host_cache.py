"""Host cache: addresses and failed look-ups of hosts, for their time to live; 16 bytes each.

A host is its name's 64-bit hash with this process's secret (`hash`), so no name is kept: of a
million hosts, one that is asked for and is not there is taken for another with a chance of 5 in
10^14, and no outsider can cause that. Beside it stands one number: until when, of which
kind, and the address. Hosts with an IPv6 address have a separate, wider table.

A table is cut into parts, open addressing with linear probing in each; only one part is ever
rebuilt at a time, so that the loop does not stand still for a million hosts. Where a part has
reached its bound, the quarter that would expire first goes.
Source: seed 000, 5.2.3 (Host Data Cache, a HAT-trie there); docs/adr/0046.
"""

from __future__ import annotations

import math
from array import array
from socket import AF_INET, AF_INET6, inet_ntoa, inet_ntop, inet_pton
from struct import Struct
from typing import Final

import numpy as np

from agent.pipeline.messages.hosts import pinned, stand_in
from shared.host_failures import HostFailure

__all__ = ["HostCache"]

PARTS: Final = 256
LEAST_PLACES: Final = 8
FULLEST: Final = 0.8
GROWTH: Final = 1.5

SHIFT: Final = 8
"""Bits of a key that choose its part; those behind choose its place."""

# A value, from its upper end: 29 bits of seconds since the cache began, 2 of kind, 32 of
# address, or of why there is none.
TIME_SHIFT: Final = 34
KIND_SHIFT: Final = 32
LATEST: Final = (1 << 29) - 1
ADDRESS: Final = 1
NAMED: Final = 2  # behind a proxy the name stands for the address
NOWHERE: Final = 3
V4_MASK: Final = (1 << 32) - 1
FAILURES: Final = tuple(HostFailure)

NARROW: Final = 2  # words of 64 bits: key, value
WIDE: Final = 4  # and an IPv6 address
_V6: Final = Struct(">qq")


class HostCache:
    """A bounded map from host keys to addresses that forgets by itself."""

    def __init__(self, capacity: int, now_s: float) -> None:
        """capacity: hosts with an IPv4 address, and as many with an IPv6 address."""
        share = max(LEAST_PLACES, capacity / PARTS)
        bound = math.ceil(share + 6 * math.sqrt(share))  # hosts do not fall evenly on the parts
        self._begun_s = now_s
        self._narrow = [_Part(NARROW, bound) for _ in range(PARTS)]
        self._wide: list[_Part] = []  # made when the first IPv6 address comes
        self._bound = bound

    def __len__(self) -> int:
        """Return how many hosts are held, those that expired or were forgotten since included."""
        return sum(part.used for part in (*self._narrow, *self._wide))

    def put(
        self,
        host: str,
        address: str,
        expires_s: float,
        now_s: float,
        failure: HostFailure = HostFailure.NO_ADDRESS,
    ) -> None:
        """Remember where a host answers until a time; address "": nowhere, for this failure."""
        key = hash(host) or 1
        if not address:
            kind, number = NOWHERE, FAILURES.index(failure)
        elif not pinned(address):
            kind, number = NAMED, 0
        elif ":" in address:
            self._put_wide(key, inet_pton(AF_INET6, address), expires_s, now_s)
            return
        else:
            kind, number = ADDRESS, int.from_bytes(inet_pton(AF_INET, address))
        if self._wide:
            self._wide[key % PARTS].forget(key)
        value = self._time(expires_s) << TIME_SHIFT | kind << KIND_SHIFT | number
        self._narrow[key % PARTS].put(key, value, self._time(now_s))

    def get(self, host: str, now_s: float) -> tuple[str, float] | None:
        """Return a host's address, "" for nowhere, and until when that holds; None: not known."""
        key = hash(host) or 1
        part = self._narrow[key % PARTS]
        # What `find` does, here because nearly every question ends in this loop.
        words, size = part.words, part.size
        place = (key >> SHIFT) % size * NARROW
        while (there := words[place]) != key:
            if not there:
                return self._get_wide(key, now_s) if self._wide else None
            place += NARROW
            if place == NARROW * size:
                place = 0
        value = words[place + 1]
        expires_s = self._begun_s + (value >> TIME_SHIFT)
        if expires_s <= now_s:
            return self._get_wide(key, now_s) if self._wide else None
        kind = value >> KIND_SHIFT & 3
        if kind == ADDRESS:
            return inet_ntoa((value & V4_MASK).to_bytes(4)), expires_s
        return (stand_in(host) if kind == NAMED else ""), expires_s

    def failure_of(self, host: str, now_s: float) -> HostFailure:
        """Return why a host that answers nowhere does not."""
        key = hash(host) or 1
        part = self._narrow[key % PARTS]
        place = part.find(key)
        known = place >= 0 and self.get(host, now_s) is not None
        number = part.words[place + 1] & V4_MASK if known else len(FAILURES)
        return FAILURES[number] if number < len(FAILURES) else HostFailure.NO_ADDRESS

    def forget(self, host: str) -> None:
        """Forget a host."""
        key = hash(host) or 1
        self._narrow[key % PARTS].forget(key)
        if self._wide:
            self._wide[key % PARTS].forget(key)

    def _time(self, at_s: float) -> int:
        return min(max(0, int(at_s - self._begun_s)), LATEST)

    def _put_wide(self, key: int, packed: bytes, expires_s: float, now_s: float) -> None:
        if not self._wide:
            self._wide = [_Part(WIDE, self._bound) for _ in range(PARTS)]
        self._narrow[key % PARTS].forget(key)
        value = self._time(expires_s) << TIME_SHIFT | ADDRESS << KIND_SHIFT
        part = self._wide[key % PARTS]
        place = part.put(key, value, self._time(now_s))
        part.words[place + 2], part.words[place + 3] = _V6.unpack(packed)

    def _get_wide(self, key: int, now_s: float) -> tuple[str, float] | None:
        part = self._wide[key % PARTS]
        place = part.find(key)
        if place < 0:
            return None
        expires_s = self._begun_s + (part.words[place + 1] >> TIME_SHIFT)
        if expires_s <= now_s:
            return None
        packed = _V6.pack(part.words[place + 2], part.words[place + 3])
        return inet_ntop(AF_INET6, packed), expires_s


class _Part:
    """One part of a table: records of `width` words in a row, key and value first.

    A record whose key is 0 is empty; one whose value is 0 has expired.
    """

    __slots__ = ("_bound", "_room", "_width", "size", "used", "words")

    def __init__(self, width: int, bound: int) -> None:
        """width: words of a record. bound: records."""
        self._width = width
        self._bound = bound
        self._make(LEAST_PLACES)

    def find(self, key: int) -> int:
        """Return where a key's record begins, or minus 1 minus where an empty one for it does."""
        words, size, width = self.words, self.size, self._width
        place = (key >> SHIFT) % size * width
        while there := words[place]:
            if there == key:
                return place
            place += width
            if place == size * width:
                place = 0
        return -1 - place

    def put(self, key: int, value: int, now: int) -> int:
        """Enter a key, or a new value for it; return where its record begins."""
        place = self.find(key)
        if place < 0:
            if self.used >= self._room:
                self._rebuild(now)
                place = self.find(key)
            place = -1 - place
            self.words[place] = key
            self.used += 1
        self.words[place + 1] = value
        return place

    def forget(self, key: int) -> None:
        place = self.find(key)
        if place >= 0:
            self.words[place + 1] = 0

    def _make(self, size: int) -> None:
        self.words = array("q", [0]) * (size * self._width)
        self.size = size
        self.used = 0
        self._room = int(size * FULLEST)

    def _rebuild(self, now: int) -> None:
        records = np.array(self.words).reshape(self.size, self._width)
        values = records[:, 1]
        records = records[(records[:, 0] != 0) & (values >> TIME_SHIFT > now)]
        if len(records) >= self._bound:
            latest_first = np.argsort(records[:, 1])[::-1]
            records = records[latest_first[: self._bound * 3 // 4]]
        size = self.size
        if len(records) > size * FULLEST / GROWTH:
            most = int(self._bound / FULLEST) + 1
            size = max(size, min(most, int(size * GROWTH)))
        self._make(size)
        # In the order of their homes, each takes its home or the place behind the one before it.
        homes = (records[:, 0] >> SHIFT) % size
        order = np.argsort(homes, kind="stable")
        records, numbers = records[order], np.arange(len(records))
        places = np.maximum.accumulate(homes[order] - numbers) + numbers
        inside = places < size
        np.frombuffer(self.words, np.int64).reshape(size, -1)[places[inside]] = records[inside]
        self.used = int(inside.sum())
        for record in records[~inside].tolist():  # round the end
            place = self.put(record[0], record[1], now)
            for index, word in enumerate(record[2:], place + 2):
                self.words[index] = word
