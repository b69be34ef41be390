"""Writes sorted runs of known keys, and merges several into one.

Invariant: a file is complete and synced before a commit names it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from agent.adapters.ledger.seen_sets.runs import (
    BLOCK,
    BLOCK_KEYS,
    MASK_KEY,
    MASKS,
    JobNumbers,
    Keys,
    Pair,
    Run,
    RunState,
    run_path,
)
from shared.archive.errors import DiskFullError
from shared.archive.segment import sync_directory
from shared.full_disk import NO_ROOM

__all__ = ["merge_runs", "merged", "write_run"]

KEY_BITS: Final = 12
"""Bits of filter for a key: one key in some 70 that is not there is looked for on disk."""

FILTER_WORDS_MOST: Final = 1 << 22
"""Words of 64 bits: 32 MB a run, full at 22 million keys."""

_U64: Final = np.uint64


def merge_runs(folder: Path, number: int, runs: Sequence[Run], live: JobNumbers | None) -> RunState:
    """Write a run of the keys of several. live: the jobs whose keys are kept; None: all."""
    pairs = merged([run.pairs() for run in runs], live)
    return write_run(folder, number, pairs, sum(run.state.keys for run in runs))


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
        """Read more where nothing is left; return whether there is something."""
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
    rows = np.empty(len(keys) // BLOCK_KEYS, BLOCK)
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
    masks = MASKS[(keys & _U64(MASK_KEY)).astype(np.intp)]
    words[places[starts].astype(np.intp)] |= np.bitwise_or.reduceat(masks, starts)
