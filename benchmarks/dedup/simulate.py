"""Hit rate and error rate of filters of seen keys.

A structure behind the LRU sees only what the LRU does not know and what leaves it; that is the same
for all of them, so it is recorded once (`Front`). They receive the calls, in the order, that
`agent.modules.seen.lru.Layered` would make.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from agent.modules.seen.interface import Filter, Keys, Seen
from agent.modules.seen.lru import Lru
from benchmarks.dedup.stream import Stream
from benchmarks.memory import bytes_of

__all__ = ["Front", "Mistakes", "behind_front", "make_front", "run_alone"]

BATCH = 1 << 16


@dataclass(frozen=True)
class Mistakes:
    """The outcome of a run. Hits are right ones; wrong ones are `false_positives`."""

    links: int
    new: int
    hits: int
    false_positives: int
    nbytes: int

    @property
    def hit_rate(self) -> float:
        """Return the share of all links that were known and taken for known."""
        return self.hits / self.links

    @property
    def fp_rate(self) -> float:
        """Return the share of new keys that were taken for known."""
        return self.false_positives / self.new

    @property
    def false_negatives(self) -> int:
        """Return how many links were known and taken for new."""
        return self.links - self.new - self.hits


def run_alone(stream: Stream, seen: Seen, batch: int = BATCH) -> Mistakes:
    """Run a structure over the stream, so many links at a time."""
    hits = wrong = 0
    keys = stream.keys.tolist()
    for first in range(0, len(keys), BATCH):
        answers: list[bool] = []
        for start in range(first, min(first + BATCH, len(keys)), batch):
            answers += seen.meet(keys[start : start + batch])
        known, is_new = np.array(answers), stream.is_new[first : first + BATCH]
        wrong += int((known & is_new).sum())
        hits += int((known & ~is_new).sum())
    return Mistakes(stream.keys.size, stream.distinct, hits, wrong, bytes_of(seen))


@dataclass(frozen=True)
class Front:
    """An LRU's run: what it did not know, in order, and what it pushed out meanwhile."""

    size: int
    links: int
    where: NDArray[np.int64]  # in the stream, of the keys it did not know
    asked: Keys
    asked_is_new: NDArray[np.bool_]
    pushed_out: Keys  # one with each that is asked, from asked[size] on

    @property
    def hits(self) -> int:
        """Return how many links the LRU knew."""
        return self.links - self.asked.size


def make_front(stream: Stream, size: int) -> Front:
    """Run the LRU that stands before the filters."""
    lru, pushed_out = Lru(size), []
    unknown = []
    for start in range(0, stream.keys.size, BATCH):
        known, out = lru.meet_and_push(stream.keys[start : start + BATCH].tolist())
        unknown.append(~np.array(known))
        pushed_out.append(np.array(out, np.int64))
    asked = np.flatnonzero(np.concatenate(unknown))
    return Front(
        size,
        stream.keys.size,
        asked,
        stream.keys[asked].view(np.uint64),
        stream.is_new[asked],
        np.concatenate(pushed_out).view(np.uint64),
    )


def behind_front(front: Front, held: Filter, front_bytes: int) -> Mistakes:
    """Run a filter behind the LRU. front_bytes: what the LRU is counted as."""
    hits, wrong = front.hits, 0
    # As many links at a time as the LRU holds: none is pushed out by those that come with it.
    cuts = np.searchsorted(front.where, np.arange(0, front.links + front.size, front.size))
    for start, end in pairwise(cuts.tolist()):
        held.add(front.pushed_out[max(0, start - front.size) : max(0, end - front.size)])
        known = held.knows(front.asked[start:end])
        is_new = front.asked_is_new[start:end]
        wrong += int((known & is_new).sum())
        hits += int((known & ~is_new).sum())
    new = int(front.asked_is_new.sum())
    return Mistakes(front.links, new, hits, wrong, bytes_of(held) + front_bytes)
