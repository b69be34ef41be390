"""A timing wheel: things that must wait, each for its own time, at a cost that does not grow.

To add costs O(1), to take out what is due O(1) a thing, however many wait: no heap, no scan. The
scheduler of the source is a ring of lists, one for each interval of five seconds, of which an
address is in one at most. Here the ring has a hand that follows the clock, and coarser rings
behind it take times further away; when the hand has gone round, the next list of the coarser
ring is dealt out into the finer one.

Invariant: nothing comes out before its time, and nothing later than the first `advance` at least
one step (`STEP_S`) after it.
Source: seed 000, section 5.2.1, figure 5; Varghese and Lauck, Hashed and Hierarchical Timing
Wheels (1987), scheme 7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

__all__ = ["STEP_S", "TimingWheel"]

T = TypeVar("T")


def _step(entry: tuple[int, object]) -> int:
    return entry[0]


STEP_S: Final = 0.01
BITS: Final = 8
SLOTS: Final = 1 << BITS
LEVELS: Final = 4  # 2.56 s, 11 min, 47 h, 497 days


class TimingWheel(Generic[T]):
    """Holds things until their time. Times are seconds of any clock that never goes back."""

    def __init__(self, now_s: float = 0.0) -> None:
        self._hand = math.floor(now_s / STEP_S)  # the last step that was dealt out
        self._rings: list[list[list[tuple[int, T]]]] = [
            [[] for _ in range(SLOTS)] for _ in range(LEVELS)
        ]
        self._held = [0] * LEVELS
        self._now: list[T] = []  # due already when they were added

    def __len__(self) -> int:
        return sum(self._held) + len(self._now)

    def add(self, thing: T, due_s: float) -> None:
        """Hold a thing until `due_s`; what is due already comes out at the next `advance`."""
        self._put(math.ceil(due_s / STEP_S), thing)

    def advance(self, now_s: float) -> list[T]:
        """Move the hand and return what is due, in order of time to one step."""
        due, self._now = self._now, []
        target = math.floor(now_s / STEP_S)
        while self._hand < target:
            if not self._held[0]:
                self._skip(target)
                if self._hand >= target:
                    break
            self._hand += 1
            if not self._hand % SLOTS:
                self._deal_out(1)
                due.extend(self._now)  # dealt out exactly at its time
                self._now = []
            slot = self._rings[0][self._hand % SLOTS]
            if slot:
                self._held[0] -= len(slot)
                due.extend(thing for _, thing in slot)
                slot.clear()
        return due

    def next_s(self, within_s: float) -> float:
        """Return when the next thing comes out at the earliest, if that is within so long.

        Counted from the last `advance`; a time further away is `inf`, whenever it is due.
        """
        if self._now:
            return self._hand * STEP_S
        ring, further = self._rings[0], any(self._held[1:])
        if self._held[0] or further:
            steps = min(SLOTS - 1, math.ceil(within_s / STEP_S))
            for step in range(self._hand + 1, self._hand + 1 + steps):
                # Where the finest ring ends, it is dealt out again: the next are unknown.
                if ring[step % SLOTS] or (further and not step % SLOTS):
                    return step * STEP_S
        return math.inf

    def latest(self) -> Iterator[tuple[float, T]]:
        """Yield all entries with their times, the longest wait first; nothing may change meanwhile.

        Costs what is taken: a slot is sorted when its turn comes.
        """
        for level in reversed(range(LEVELS)):
            if not self._held[level]:
                continue
            hand = self._hand >> (BITS * level)
            for ahead in range(SLOTS, 0, -1):
                slot = self._rings[level][(hand + ahead) % SLOTS]
                for step, thing in sorted(slot, key=_step, reverse=True):
                    yield step * STEP_S, thing

    def _put(self, step: int, thing: T) -> None:
        ahead = step - self._hand
        if ahead <= 0:
            self._now.append(thing)
            return
        for level in range(LEVELS):
            # By slots and not by distance: at each level the hand's own slot is dealt out already.
            slots_ahead = (step >> (BITS * level)) - (self._hand >> (BITS * level))
            if slots_ahead < SLOTS:
                break
        else:
            slots_ahead = SLOTS - 1  # further than the wheel reaches: looked at again there
        slot = (self._hand >> (BITS * level)) + slots_ahead
        self._rings[level][slot % SLOTS].append((step, thing))
        self._held[level] += 1

    def _deal_out(self, level: int) -> None:
        if level >= LEVELS:
            return
        slot_number = self._hand >> (BITS * level)
        if not slot_number % SLOTS:
            self._deal_out(level + 1)
        ring = self._rings[level]
        slot, ring[slot_number % SLOTS] = ring[slot_number % SLOTS], []
        self._held[level] -= len(slot)
        for step, thing in slot:
            self._put(step, thing)

    def _skip(self, target: int) -> None:
        # Nothing in the finest ring: jump to the step before the next list that must be dealt out.
        span = BITS
        for level in range(1, LEVELS):
            if self._held[level]:
                break
            span += BITS
        else:
            self._hand = target
            return
        boundary = ((self._hand >> span) + 1) << span
        self._hand = max(self._hand, min(target, boundary - 1))
