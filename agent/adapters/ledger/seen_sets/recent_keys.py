"""The newest known keys, in memory: in the order they came with their jobs, and as a set."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agent.adapters.ledger.seen_sets.run_writer import write_run
from agent.adapters.ledger.seen_sets.runs import RunState

__all__ = ["RecentKeys"]


class RecentKeys:
    """Keys that no run has yet."""

    def __init__(self) -> None:
        self.keys = array("Q")
        self.jobs = array("I")
        self.known: set[int] = set()

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, keys: Sequence[int], job: int) -> None:
        """Append keys of a job; the caller has put them into `known`."""
        self.keys.extend(keys)
        self.jobs.extend([job] * len(keys))

    def row(self, start: int) -> bytes:
        """Return the keys from a place on, as `seen_recent` has them."""
        return self.keys[start:].tobytes() + self.jobs[start:].tobytes()

    def read_row(self, row: bytes) -> None:
        """Append the keys of a row."""
        count = len(row) // (8 + 4)
        self.keys.frombytes(row[: count * 8])
        self.jobs.frombytes(row[count * 8 :])

    def write_run(self, folder: Path, number: int) -> RunState:
        """Write all of them as a run."""
        keys = np.frombuffer(self.keys, np.uint64)
        jobs = np.frombuffer(self.jobs, np.uint32)
        order = np.argsort(keys)
        return write_run(folder, number, [(keys[order], jobs[order])], len(keys))
