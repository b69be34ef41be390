"""The exact seen-sets of all jobs: which URLs a job has met, at a cost that does not grow.

A URL is known by 64 bits of a keyed hash, moved by its job's number: of ten million URLs two
collide with a chance of 3 in a million, and no outsider can choose two that do.

    new key -> recent (a set in memory, and with each commit a row of `seen_recent`)
    recent, when it is full -> frozen -> a sorted run on disk (runs.py), and the rows go
    runs of one size, when there are `FAN_IN` of them -> one run

Runs are written by a thread; a commit names them when they are complete, so a crash leaves either
the rows and the old runs, or the new one. Files that no commit names go to the trash at the start.
Keys of jobs that are done stay, harmless because no number is given twice, until half of all keys
are such: then one merge leaves them out. Where no job is left, everything goes at once.

Invariant: every committed key is in a row of `seen_recent` or in a run that is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from agent.adapters.ledger.database import Database, Query
from agent.adapters.ledger.seen_sets.recent_keys import RecentKeys
from agent.adapters.ledger.seen_sets.run_writer import merge_runs
from agent.adapters.ledger.seen_sets.runs import (
    JOB_STEP,
    RUN_KEYS,
    JobNumbers,
    Run,
    Runs,
    RunState,
)
from agent.adapters.ledger.trash import Trash
from shared.archive.errors import DiskFullError

__all__ = ["SeenSet", "Submit"]

FAN_IN: Final = 4
"""Runs of one size that are merged into one."""

_RUNS: Final = Query[tuple[int, int, int]]("SELECT number, keys, words FROM seen_runs")
_RECENT: Final = Query[tuple[int, bytes]]("SELECT generation, keys FROM seen_recent ORDER BY id")

Submit = Callable[[Callable[[], RunState]], Future[RunState]]

_64_BITS: Final = (1 << 64) - 1
_ALL: Final = 1 << 31


@dataclass(slots=True)
class _Task:
    """A run that is being written: of the frozen keys, or of other runs."""

    inputs: tuple[Run, ...]  # none: of the frozen keys
    future: Future[RunState]


class SeenSet:
    """Seen keys of all jobs."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        secret: bytes,
        live_jobs: Callable[[int], JobNumbers],
        submit: Submit,
        run_keys: int = RUN_KEYS,
        trash: Trash | None = None,
    ) -> None:
        """Open it as the last commit left it. Raises HomeError where a run is missing.

        live_jobs: the least numbers, as many as asked for, of the jobs whose keys are needed, in
        order. submit: has a run written, beside the crawl. trash: takes runs that no commit names;
        None: that of the folder above.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._trash = trash or Trash(folder.parent)
        self._database = database
        self._hash = blake2b(key=secret, digest_size=8)
        self._live_jobs = live_jobs
        self._submit = submit
        self._run_keys = run_keys
        self._generation = 0
        self._recent = RecentKeys()
        self._frozen: RecentKeys | None = None
        self._written = 0  # of the recent keys, in rows
        self._task: _Task | None = None
        self._no_room: DiskFullError | None = None
        self._dead_keys = 0  # of jobs that are done, about
        self._has_ended_jobs = False  # since the last look at the live ones
        self.to_delete: list[Path] = []
        self._runs: list[Run] = []
        try:
            for row in database.ask(_RUNS):
                self._runs.append(Run(folder, RunState(*row)))
        except BaseException:
            self.close()
            raise
        self._set_runs(self._runs)
        self._next = 1 + max((run.state.number for run in self._runs), default=0)
        self._read_rows()
        self._remove_unknown()

    @property
    def keys(self) -> int:
        """Return how many keys are kept, those of jobs that are done too."""
        frozen = 0 if self._frozen is None else len(self._frozen)
        return len(self._recent) + frozen + sum(run.state.keys for run in self._runs)

    def add(self, job: int, urls: Sequence[str]) -> list[bool]:
        """Enter URLs of a job; return for each whether it was new."""
        known = self._recent.known
        frozen = self._frozen.known if self._frozen is not None else ()
        lookup = self._lookup
        step = job * JOB_STEP
        new: list[bool] = []
        entered: list[int] = []
        for url in urls:
            digest = self._hash.copy()
            digest.update(url.encode())
            key = (int.from_bytes(digest.digest(), "big") + step) & _64_BITS
            is_new = not (key in known or key in frozen or lookup.contains(key))
            if is_new:
                known.add(key)
                entered.append(key)
            new.append(is_new)
        if entered:
            self._recent.add(entered, job)
        return new

    def has(self, job: int, url: str) -> bool:
        """Return whether a URL of a job was entered."""
        digest = self._hash.copy()
        digest.update(url.encode())
        key = (int.from_bytes(digest.digest(), "big") + job * JOB_STEP) & _64_BITS
        frozen = self._frozen.known if self._frozen is not None else ()
        return key in self._recent.known or key in frozen or self._lookup.contains(key)

    def discard(self, keys: int) -> None:
        """Note that so many keys belong to a job that is done."""
        self._dead_keys += keys
        self._has_ended_jobs = True

    @property
    def changed(self) -> bool:
        """Return whether a commit has something to do here."""
        done = self._task is not None and self._task.future.done()
        return done or self._written < len(self._recent)

    def flush(self) -> None:
        """Hand new keys to the open transaction, and runs that are complete.

        Raises DiskFullError where there is no room for a run and none for more keys in memory.
        """
        self._install()
        if self._written < len(self._recent):
            self._database.run(
                "INSERT INTO seen_recent (generation, keys) VALUES (?,?)",
                (self._generation, self._recent.row(self._written)),
            )
            self._written = len(self._recent)
        if len(self._recent) >= 2 * self._run_keys and self._frozen is not None:
            self._wait()
        self._begin()

    def close(self) -> None:
        """Close without waiting for the run that is being written."""
        for run in self._runs:
            run.close()
        self._set_runs([])

    def _begin(self) -> None:
        """Start writing the next run, if one is due and none is under way."""
        if self._task is not None:
            return
        if self._frozen is None and len(self._recent) >= self._run_keys:
            self._frozen, self._recent = self._recent, RecentKeys()
            self._generation += 1
            self._written = 0
        is_unused = self._has_ended_jobs and not len(self._live_jobs(1))
        self._has_ended_jobs = False
        if is_unused or (
            self._dead_keys and self._dead_keys * 2 >= sum(run.state.keys for run in self._runs)
        ):
            self._clean()
        elif self._frozen is not None:
            frozen = self._frozen
            self._start((), lambda number: frozen.write_run(self._folder, number))
        elif inputs := self._of_one_size():
            self._start(inputs, lambda number: merge_runs(self._folder, number, inputs, None))

    def _clean(self) -> None:
        """Leave the keys of jobs that are done out."""
        live = self._live_jobs(_ALL)
        self._dead_keys = 0
        inputs = tuple(self._runs)
        if not len(live):
            self._forget(inputs)
            self._database.run("DELETE FROM seen_recent")
            self._frozen, self._recent, self._written = None, RecentKeys(), 0
            self._generation += 1
        elif inputs:
            self._start(inputs, lambda number: merge_runs(self._folder, number, inputs, live))

    def _start(self, inputs: tuple[Run, ...], write: Callable[[int], RunState]) -> None:
        number = self._next
        self._next += 1
        self._task = _Task(inputs, self._submit(lambda: write(number)))

    def _install(self) -> None:
        """Take over a run that is complete, in place of its sources."""
        task = self._task
        if task is None or not task.future.done():
            return
        self._task = None
        try:
            state = task.future.result()
        except DiskFullError as error:
            self._no_room = error
            return
        self._no_room = None
        self._database.run(
            "INSERT INTO seen_runs (number, keys, words) VALUES (?,?,?)",
            (state.number, state.keys, state.words),
        )
        if task.inputs:
            self._forget(task.inputs)
        else:
            self._database.run("DELETE FROM seen_recent WHERE generation < ?", (self._generation,))
            self._frozen = None
        self._set_runs([*self._runs, Run(self._folder, state)])

    def _wait(self) -> None:
        """Memory is full: wait for the run that is being written."""
        if self._task is None:
            self._begin()
        if self._task is not None:
            self._task.future.exception()
            self._install()
        if self._no_room is not None:
            raise self._no_room

    def _forget(self, runs: Iterable[Run]) -> None:
        gone = set(runs)
        self._database.run_many(
            "DELETE FROM seen_runs WHERE number = ?", [(run.state.number,) for run in gone]
        )
        self._set_runs([run for run in self._runs if run not in gone])
        for run in gone:
            run.close()
            self.to_delete.append(run.path)

    def _of_one_size(self) -> tuple[Run, ...]:
        """Return runs to merge: enough of one size, the smallest first."""
        sizes: dict[int, list[Run]] = {}
        for run in self._runs:
            sizes.setdefault(_tier(run.state.keys, self._run_keys), []).append(run)
        return next(
            (tuple(sizes[tier]) for tier in sorted(sizes) if len(sizes[tier]) >= FAN_IN), ()
        )

    def _set_runs(self, runs: list[Run]) -> None:
        # A known key lies most probably in the longest one.
        self._runs = sorted(runs, key=lambda run: -run.state.keys)
        self._lookup = Runs(self._runs)

    def _read_rows(self) -> None:
        for generation, row in self._database.ask(_RECENT):
            self._recent.read_row(row)
            self._generation = generation
        # Frozen keys are recent ones again: one generation.
        self._database.run(
            "UPDATE seen_recent SET generation = ?1 WHERE generation < ?1", (self._generation,)
        )
        self._recent.known.update(self._recent.keys)
        self._written = len(self._recent)

    def _remove_unknown(self) -> None:
        named = {run.path for run in self._runs}
        for path in self._folder.glob("seen-*.run"):
            if path not in named:
                self._trash.take(path)


def _tier(keys: int, run_keys: int) -> int:
    tier = 0
    while keys >= run_keys * FAN_IN:
        keys //= FAN_IN
        tier += 1
    return tier
