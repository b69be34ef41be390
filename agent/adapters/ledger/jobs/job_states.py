"""State of a job in memory: its counters, and its queue in levels."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Final

from agent.pipeline.ledger import LEVELS

__all__ = [
    "ENDED",
    "KEPT",
    "REOPENS",
    "STATE",
    "Fifo",
    "JobState",
    "StateColumns",
    "read_state",
    "saved_columns",
]

STATE: Final = "finished, pages, kept, response_bytes, queued, queue"
"""Columns of a state in its row."""

ENDED: Final = 1
REOPENS: Final = 2
KEPT: Final = 3
"""Values of `finished` for a job that is done: without its seen-set, with it, and with its queue.
A version before KEPT reads it as ENDED."""

StateColumns = tuple[int, int, int, int, int, str]
"""Their values."""


@dataclass(slots=True)
class Fifo:
    """One level of a job's queue. Its positions count from 1."""

    low: int = 1  # positions before it are gone
    stored: int = 1  # positions before it are in blocks, those from it on in `tail`
    gone: set[int] = field(default_factory=set)  # from `low` on
    tail: list[bytes] = field(default_factory=list)  # records
    cleaned: int = 1  # `low` when blocks were last deleted

    @property
    def next(self) -> int:
        """Return the next position."""
        return self.stored + len(self.tail)

    def remove(self, position: int) -> bool:
        """Forget a URL; tell whether it was there."""
        gone, low = self.gone, self.low
        if position == low < self.stored + len(self.tail):
            low += 1
            while low in gone:
                gone.remove(low)
                low += 1
            self.low = low
            return True
        if not low <= position < self.next or position in gone:
            return False
        gone.add(position)
        return True


@dataclass(slots=True)
class JobState:
    """A job's counters and its queue."""

    finished: bool = False
    may_reopen: bool = False  # done, and its seen-set is kept
    pages: int = 0
    kept: int = 0
    response_bytes: int = 0
    queued: int = 0  # URLs in all levels
    levels: dict[int, Fifo] = field(default_factory=dict)

    @property
    def entered(self) -> int:
        """Return how many URLs ever entered the queue."""
        return sum(fifo.next - 1 for fifo in self.levels.values())

    def level(self, number: int) -> Fifo:
        """Return a level; raises ValueError for one that no block could name."""
        fifo = self.levels.get(number)
        if fifo is None:
            if not 0 <= number < LEVELS:
                raise ValueError(f"level {number}: must be 0 to {LEVELS - 1}")
            fifo = self.levels[number] = Fifo()
        return fifo


def saved_columns(state: JobState) -> tuple[int, int, int, str, int, int]:
    """Return pages, kept, response_bytes, queue, queued and met of a state's row."""
    levels = {
        level: (fifo.low, fifo.stored, sorted(fifo.gone)) for level, fifo in state.levels.items()
    }
    queue = json.dumps(levels, separators=(",", ":"))
    return (state.pages, state.kept, state.response_bytes, queue, state.queued, state.entered)


def read_state(columns: StateColumns) -> JobState:
    """Return the state of a row."""
    finished, pages, kept, response_bytes, queued, queue = columns
    levels = {
        int(level): Fifo(low, stored, set(gone))
        for level, (low, stored, gone) in json.loads(queue).items()
    }
    may_reopen = finished in (REOPENS, KEPT)
    return JobState(bool(finished), may_reopen, pages, kept, response_bytes, queued, levels)
