"""Sorted runs of known keys on disk, and the search for a key in them.

A run is a file of blocks; a block holds 512 keys in order, then their 512 jobs, so one read of
4 KB answers for a key. Behind the blocks stand the fences (the first key of each block) and the
filter, a Bloom filter whose bits for one key lie in one word; both are in memory while the run is
open. Words follow the order of the keys, so a sorted run fills them in one pass.

    a key that no run has costs one word in each; one that a run has, one read of the page cache

A filter has at most `FILTER_WORDS_MOST` words: in longer runs it lets more keys through to the
disk, but memory stays bounded. `run_writer.py` writes and merges runs, which never change.
Source: O'Neil et al., The Log-Structured Merge-Tree, 1996; Putze, Sanders, Singler, Cache-, Hash-
and Space-Efficient Bloom Filters, 2007 (one word a key).
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agent.errors import HomeError
from shared.frozen import frozen

__all__ = [
    "BLOCK",
    "BLOCK_KEYS",
    "JOB_STEP",
    "MASKS",
    "MASK_KEY",
    "RUN_KEYS",
    "JobNumbers",
    "Keys",
    "Pair",
    "Run",
    "RunState",
    "Runs",
    "run_path",
]

RUN_KEYS: Final = 1 << 17
"""Keys in memory until they become a run; twice as many at most: 20 MB."""

JOB_STEP: Final = 0x9E3779B97F4A7C15
"""Added to a URL's hash once for each number of its job; odd, so no two jobs have one key."""

BLOCK_KEYS: Final = 512
READ_BLOCKS: Final = 128
"""Read of each run at a time while runs are merged: 800 KB."""

BLOCK: Final = np.dtype([("keys", "<u8", (BLOCK_KEYS,)), ("jobs", "<u4", (BLOCK_KEYS,))])
MASK_BITS: Final = 14
_U64: Final = np.uint64

Keys = NDArray[np.uint64]
JobNumbers = NDArray[np.uint32]
Pair = tuple[Keys, JobNumbers]


def _masks() -> Keys:
    """Return 2^14 words with four bits each, the same ones for ever: filters are on disk.

    Source of the mixing: Steele, Lea, Flood, SplitMix, 2014.
    """
    mixed = np.arange(1, (1 << MASK_BITS) + 1, dtype=np.uint64) * _U64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> _U64(30))) * _U64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> _U64(27))) * _U64(0x94D049BB133111EB)
    words = np.zeros_like(mixed)
    for shift in (0, 6, 12, 18):
        words |= np.left_shift(_U64(1), (mixed >> _U64(shift + 32)) & _U64(63))
    return words


MASKS: Final = _masks()
_MASK_OF: Final[list[int]] = [int(mask) for mask in MASKS]
MASK_KEY: Final = (1 << MASK_BITS) - 1


@frozen
class RunState:
    """A run, as a transaction records it. `words`: of its filter."""

    number: int
    keys: int
    words: int

    @property
    def blocks(self) -> int:
        """Return how many blocks it has; the last one may be padded."""
        return -(-self.keys // BLOCK_KEYS)

    @property
    def size_bytes(self) -> int:
        """Return the size of its file."""
        return self.blocks * (BLOCK.itemsize + 8) + self.words * 8


def run_path(folder: Path, number: int) -> Path:
    """Return the file of a run."""
    return folder / f"seen-{number:08d}.run"


class Run:
    """A run that is open."""

    def __init__(self, folder: Path, state: RunState) -> None:
        """Open it; raises HomeError where it differs from the committed run."""
        self.state = state
        self.path = run_path(folder, state.number)
        try:
            size_bytes = self.path.stat().st_size
        except FileNotFoundError:
            size_bytes = -1
        if size_bytes != state.size_bytes:
            raise HomeError(
                "agent_errors.file_shorter",
                path=str(self.path),
                size_bytes=max(0, size_bytes),
                committed_bytes=state.size_bytes,
            )
        self._file = os.open(self.path, os.O_RDONLY)
        at = state.blocks * BLOCK.itemsize
        self._fences = memoryview(os.pread(self._file, state.blocks * 8, at)).cast("Q")
        filter_ = os.pread(self._file, state.words * 8, at + state.blocks * 8)
        self._words = memoryview(filter_).cast("Q")

    def filter(self) -> tuple[memoryview, int]:
        """Return the words of its filter, and how many they are."""
        return self._words, self.state.words

    def contains(self, key: int) -> bool:
        """Return whether a key is in it that its filter lets through."""
        block = bisect_right(self._fences, key) - 1
        if block < 0:
            return False
        size = min(BLOCK_KEYS, self.state.keys - block * BLOCK_KEYS)
        data = os.pread(self._file, size * 8, block * BLOCK.itemsize)
        keys = memoryview(data).cast("Q")
        place = bisect_left(keys, key)
        return place < size and keys[place] == key

    def pairs(self) -> Iterator[Pair]:
        """Yield keys and their jobs in order, some blocks at a time."""
        left = self.state.keys
        with self.path.open("rb") as file:
            while left:
                rows = np.fromfile(file, BLOCK, min(READ_BLOCKS, -(-left // BLOCK_KEYS)))
                keys = rows["keys"].ravel()[:left]
                left -= len(keys)
                yield keys, rows["jobs"].ravel()[: len(keys)]

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class Runs:
    """Several runs, searched in their order for one key at a time.

    Most keys are in none: what such a one costs is what each run more costs, so all filters are
    looked at in one loop, and a run is called only where its filter lets a key through.
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        """Take runs as they are; of others make another."""
        self._filters = [(*run.filter(), run) for run in runs]

    def contains(self, key: int) -> bool:
        """Return whether a key is in one of them."""
        mask = _MASK_OF[key & MASK_KEY]
        high = key >> 32
        for words, count, run in self._filters:
            if words[high * count >> 32] & mask == mask and run.contains(key):
                return True
        return False
