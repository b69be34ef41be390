"""Sorted runs of known keys on disk: how one is written, merged, and asked.

A run is a file of blocks; a block holds 512 keys in order, then their 512 jobs, so one read of
4 KB answers for a key. Behind the blocks stand the fences (the first key of each block) and the
filter, a Bloom filter whose bits for one key lie in one word; both are in memory while the run is
open. Words follow the order of the keys, so a sorted run fills them in one pass.

    a key that no run holds costs one word in each; one that is held, one read of the page cache

A filter has at most `FILTER_WORDS_MOST` words: in longer runs it lets more keys through to the
disk, but memory stays bounded.
Invariant: a file is complete and synced before anybody names it; it never changes after that.
Source: O'Neil et al., The Log-Structured Merge-Tree, 1996; Putze, Sanders, Singler, Cache-, Hash-
and Space-Efficient Bloom Filters, 2007 (one word a key).
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from agent.errors import HomeError
from shared.archive.errors import DiskFullError
from shared.archive.segment import sync_directory
from shared.frozen import frozen
from shared.full_disk import NO_ROOM

__all__ = [
    "JOB_STEP",
    "RUN_KEYS",
    "Keys",
    "Pair",
    "Run",
    "RunState",
    "Runs",
    "merged",
    "run_path",
    "write_run",
]

RUN_KEYS: Final = 1 << 17
"""Keys in memory until they become a run; twice as many at most: 20 MB."""

JOB_STEP: Final = 0x9E3779B97F4A7C15
"""Added to a URL's hash once for each number of its job; odd, so no two jobs have one key."""

BLOCK_KEYS: Final = 512
KEY_BITS: Final = 12
"""Bits of filter for a key: one key in some 70 that is not there is looked for on disk."""

FILTER_WORDS_MOST: Final = 1 << 22
"""Words of 64 bits: 32 MB a run, full at 22 million keys."""

READ_BLOCKS: Final = 128
"""Read of each run at a time while runs are merged: 800 KB."""

_BLOCK: Final = np.dtype([("keys", "<u8", (BLOCK_KEYS,)), ("jobs", "<u4", (BLOCK_KEYS,))])
_MASKS_BITS: Final = 14
_U64: Final = np.uint64

Keys = NDArray[np.uint64]
JobNumbers = NDArray[np.uint32]
Pair = tuple[Keys, JobNumbers]


def _masks() -> Keys:
    """Return 2^14 words with four bits each, the same ones for ever: filters are on disk.

    Source of the mixing: Steele, Lea, Flood, SplitMix, 2014.
    """
    mixed = np.arange(1, (1 << _MASKS_BITS) + 1, dtype=np.uint64) * _U64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> _U64(30))) * _U64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> _U64(27))) * _U64(0x94D049BB133111EB)
    words = np.zeros_like(mixed)
    for shift in (0, 6, 12, 18):
        words |= np.left_shift(_U64(1), (mixed >> _U64(shift + 32)) & _U64(63))
    return words


_MASKS: Final = _masks()
_MASK_OF: Final[list[int]] = [int(mask) for mask in _MASKS]
_MASK_KEY: Final = (1 << _MASKS_BITS) - 1


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
        return self.blocks * (_BLOCK.itemsize + 8) + self.words * 8


def run_path(folder: Path, number: int) -> Path:
    """Return the file of a run."""
    return folder / f"seen-{number:08d}.run"


class Run:
    """A run that can be asked."""

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
        at = state.blocks * _BLOCK.itemsize
        self._fences = memoryview(os.pread(self._file, state.blocks * 8, at)).cast("Q")
        filter_ = os.pread(self._file, state.words * 8, at + state.blocks * 8)
        self._words = memoryview(filter_).cast("Q")

    def filter(self) -> tuple[memoryview, int]:
        """Return the words of its filter, and how many they are."""
        return self._words, self.state.words

    def finds(self, key: int) -> bool:
        """Return whether a key is in it that its filter lets through."""
        block = bisect_right(self._fences, key) - 1
        if block < 0:
            return False
        size = min(BLOCK_KEYS, self.state.keys - block * BLOCK_KEYS)
        data = os.pread(self._file, size * 8, block * _BLOCK.itemsize)
        keys = memoryview(data).cast("Q")
        place = bisect_left(keys, key)
        return place < size and keys[place] == key

    def pairs(self) -> Iterator[Pair]:
        """Yield keys and their jobs in order, some blocks at a time."""
        left = self.state.keys
        with self.path.open("rb") as file:
            while left:
                rows = np.fromfile(file, _BLOCK, min(READ_BLOCKS, -(-left // BLOCK_KEYS)))
                keys = rows["keys"].ravel()[:left]
                left -= len(keys)
                yield keys, rows["jobs"].ravel()[: len(keys)]

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class Runs:
    """Several runs, asked in their order for one key at a time.

    Most keys are in none: what such a one costs is what each run more costs, so all filters are
    looked at in one loop, and a run is called only where its filter lets a key through.
    """

    def __init__(self, runs: Iterable[Run]) -> None:
        """Take runs as they are; of others make another."""
        self._filters = [(*run.filter(), run) for run in runs]

    def hold(self, key: int) -> bool:
        """Return whether a key is in one of them."""
        mask = _MASK_OF[key & _MASK_KEY]
        high = key >> 32
        for words, count, run in self._filters:
            if words[high * count >> 32] & mask == mask and run.finds(key):
                return True
        return False


def write_run(folder: Path, number: int, pairs: Iterable[Pair], most: int) -> RunState:
    """Write a run of keys that come in order, synced; return what to commit of it.

    most: how many keys come at most. Raises DiskFullError, and then no file is left.
    """
    words = np.zeros(_filter_words(most), np.uint64)
    path = run_path(folder, number)
    try:
        with path.open("wb") as file:
            count, fences = _write_blocks(file, pairs, words)
            file.write(b"".join(fences))
            file.write(words.tobytes())
            file.flush()
            os.fsync(file.fileno())
        sync_directory(folder)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise DiskFullError(
                "agent_errors.no_room_for_known_urls", path=str(path), why=error.strerror
            ) from error
        raise
    return RunState(number, count, len(words))


def merged(runs: Sequence[Iterable[Pair]], live: JobNumbers | None) -> Iterator[Pair]:
    """Yield the keys of several runs in order, in bounded memory.

    live: the numbers of the jobs whose keys are kept, in order; None: all.
    """
    sources = [_Source(iter(run)) for run in runs]
    while sources := [source for source in sources if source.fill()]:
        limit = min(source.keys[-1] for source in sources)
        parts = [source.up_to(limit) for source in sources]
        keys = np.concatenate([part[0] for part in parts])
        jobs = np.concatenate([part[1] for part in parts])
        order = np.argsort(keys, kind="stable")  # of sorted parts this is a merge
        keys, jobs = keys[order], jobs[order]
        if live is not None:
            kept = _among(jobs, live)
            keys, jobs = keys[kept], jobs[kept]
        if len(keys):
            yield keys, jobs


class _Source:
    """One run while it is merged."""

    def __init__(self, pairs: Iterator[Pair]) -> None:
        self._pairs = pairs
        self.keys: Keys = np.empty(0, np.uint64)
        self._jobs: JobNumbers = np.empty(0, np.uint32)

    def fill(self) -> bool:
        """Read on where nothing is left; tell whether there is something."""
        while not len(self.keys):
            pair = next(self._pairs, None)
            if pair is None:
                return False
            self.keys, self._jobs = pair
        return True

    def up_to(self, limit: np.uint64) -> Pair:
        """Take what is not greater than a key."""
        end = int(np.searchsorted(self.keys, limit, side="right"))
        taken = self.keys[:end], self._jobs[:end]
        self.keys, self._jobs = self.keys[end:], self._jobs[end:]
        return taken


def _among(jobs: JobNumbers, live: JobNumbers) -> NDArray[np.bool_]:
    if not len(live):
        return np.zeros(len(jobs), np.bool_)
    place = np.minimum(np.searchsorted(live, jobs), len(live) - 1)
    found: NDArray[np.bool_] = live[place] == jobs
    return found


def _write_blocks(file: BinaryIO, pairs: Iterable[Pair], words: Keys) -> tuple[int, list[bytes]]:
    """Write blocks and fill the filter; return the number of keys, and the fences."""
    count = 0
    fences: list[bytes] = []
    keys: Keys = np.empty(0, np.uint64)
    jobs: JobNumbers = np.empty(0, np.uint32)
    for more_keys, more_jobs in pairs:
        if not len(more_keys):
            continue
        _enter(more_keys, words)
        count += len(more_keys)
        keys = np.concatenate((keys, more_keys))
        jobs = np.concatenate((jobs, more_jobs))
        whole = len(keys) // BLOCK_KEYS
        if whole:
            end = whole * BLOCK_KEYS
            fences.append(_write_rows(file, keys[:end], jobs[:end]))
            keys, jobs = keys[end:], jobs[end:]
    if len(keys):
        room = BLOCK_KEYS - len(keys)
        fences.append(_write_rows(file, np.pad(keys, (0, room)), np.pad(jobs, (0, room))))
    return count, fences


def _write_rows(file: BinaryIO, keys: Keys, jobs: JobNumbers) -> bytes:
    rows = np.empty(len(keys) // BLOCK_KEYS, _BLOCK)
    rows["keys"] = keys.reshape(-1, BLOCK_KEYS)
    rows["jobs"] = jobs.reshape(-1, BLOCK_KEYS)
    file.write(rows.tobytes())
    return rows["keys"][:, 0].tobytes()


def _filter_words(keys: int) -> int:
    return max(1, min(FILTER_WORDS_MOST, keys * KEY_BITS // 64))


def _enter(keys: Keys, words: Keys) -> None:
    """Set the bits of sorted keys: those of one word stand together."""
    places = (keys >> _U64(32)) * _U64(len(words)) >> _U64(32)
    starts = np.flatnonzero(np.concatenate(([True], places[1:] != places[:-1])))
    masks = _MASKS[(keys & _U64(_MASK_KEY)).astype(np.intp)]
    words[places[starts].astype(np.intp)] |= np.bitwise_or.reduceat(masks, starts)
