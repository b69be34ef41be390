"""What the agent holds, packed: of a million units 20 bytes each are in memory, the orders on disk.

A unit that is a whole host is its name's 64-bit hash with this process's secret, and the number of
its job. Whoever asks for the job gets it from the ledger, and there its unit is compared, so that
two names with one hash are never taken for each other. Hosts that are split keep their units as
texts: which of them holds a page needs the text.

Invariant: the jobs of the ledger are those of the list in force; a scope is made of them anew with
each list, and in between only more of them are finished.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, TypeVar

import numpy as np

from agent.pipeline.messages import Job, Scope
from agent.pipeline.ports import Ledger
from shared.units import UnitIndex, is_whole_host
from shared.urls import host_of

__all__ = ["Finished", "JobsHeld", "UnitsHeld", "scope_of", "scope_of_jobs"]

JOBS_REMEMBERED: Final = 4096  # orders that were read from the ledger lately

T = TypeVar("T")

Unit = tuple[int, str, bool]
"""Number of its job, unit, whether the job is finished."""


class UnitsHeld:
    """Which units are held, by which job, and whether it is done; answers as `UnitIndex` does."""

    def __init__(self, units: Iterable[Unit]) -> None:
        keys, numbers, done = array("q"), array("q"), bytearray()
        self._split = UnitIndex()
        self._of_split: dict[str, list[int | bool]] = {}
        for number, unit, finished in units:
            if is_whole_host(unit):
                keys.append(hash(unit))
                numbers.append(number)
                done.append(finished)
            else:
                self._split.add(unit)
                self._of_split[unit] = [number, finished]
        order = np.argsort(np.frombuffer(keys, np.int64), kind="stable")
        self._keys = array("q", np.frombuffer(keys, np.int64)[order].tobytes())
        self._numbers = array("q", np.frombuffer(numbers, np.int64)[order].tobytes())
        self._done = bytearray(np.frombuffer(done, np.uint8)[order].tobytes())
        for host in {host_of(unit) for unit in self._of_split}:
            place = self._place(host)
            if place is not None:
                self._split.add(host)
        self.finished = sum(self._done) + sum(one[1] for one in self._of_split.values())

    def __len__(self) -> int:
        return len(self._keys) + len(self._of_split)

    def holding(self, url: str) -> str | None:
        """Return the longest unit that holds a canonical URL, or None: outside all units."""
        host = host_of(url)
        if self._split.of_host(host):
            return self._split.holding(url)
        return host if self._place(host) is not None else None

    def of_host(self, host: str) -> tuple[str, ...]:
        """Return the units of a host."""
        split = self._split.of_host(host)
        if split:
            return split
        return (host,) if self._place(host) is not None else ()

    def number(self, unit: str) -> int | None:
        """Return the number of a unit's job, or None."""
        of_split = self._of_split.get(unit)
        if of_split is not None:
            return of_split[0]
        place = self._place(unit)
        return None if place is None else self._numbers[place]

    def numbers(self) -> set[int]:
        """Return the numbers of all jobs."""
        return {*self._numbers, *(number for number, _ in self._of_split.values())}

    def is_finished(self, unit: str) -> bool:
        """Tell whether a unit's job is done."""
        of_split = self._of_split.get(unit)
        if of_split is not None:
            return bool(of_split[1])
        place = self._place(unit)
        return place is not None and bool(self._done[place])

    def finish(self, unit: str) -> None:
        """Note that a unit's job is done."""
        if self.number(unit) is None or self.is_finished(unit):
            return
        self.finished += 1
        of_split = self._of_split.get(unit)
        place = self._place(unit)
        if of_split is not None:
            of_split[1] = True
        elif place is not None:
            self._done[place] = True

    def _place(self, unit: str) -> int | None:
        key, keys = hash(unit), self._keys
        place = bisect_left(keys, key)
        return place if place < len(keys) and keys[place] == key else None


class JobsHeld(Mapping[str, Job]):
    """The orders by unit; read from the ledger when they are asked for."""

    def __init__(
        self, units: UnitsHeld, load: Callable[[int], Job | None], all_: Callable[[], Iterable[Job]]
    ) -> None:
        """load: reads a job by its number. all_: reads all of them."""
        self._units = units
        self._load = load
        self._all = all_
        self._read: dict[int, Job] = {}

    def __len__(self) -> int:
        return len(self._units)

    def __iter__(self) -> Iterator[str]:
        return (job.unit for job in self._all())

    def __getitem__(self, unit: str) -> Job:
        number = self._units.number(unit)
        job = None if number is None else self.numbered(number)
        if job is None or job.unit != unit:
            raise KeyError(unit)
        return job

    def numbered(self, number: int) -> Job | None:
        """Return the job with a number, or None where the list has none."""
        job = self._read.get(number)
        if job is None:
            job = self._load(number)
            if job is None:
                return None
            if len(self._read) >= JOBS_REMEMBERED:
                self._read.clear()
            self._read[number] = job
        return job


class Finished(AbstractSet[str]):
    """The units whose jobs are done."""

    def __init__(self, units: UnitsHeld, jobs: JobsHeld) -> None:
        self._units = units
        self._jobs = jobs

    def __len__(self) -> int:
        return self._units.finished

    def __contains__(self, unit: object) -> bool:
        return isinstance(unit, str) and self._units.is_finished(unit)

    def __iter__(self) -> Iterator[str]:
        if not self._units.finished:
            return iter(())
        return (unit for unit in self._jobs if self._units.is_finished(unit))

    @classmethod
    def _from_iterable(cls, units: Iterable[T]) -> AbstractSet[T]:
        return frozenset(units)  # what `-` and `&` make of it


def scope_of(ledger: Ledger) -> Scope:
    """Return the scope of the jobs that a ledger remembers: the same after a restart as before."""

    def load(number: int) -> Job | None:
        row = ledger.job(number)
        return None if row is None else row.job

    return _scope(ledger.units(), load, lambda: (row.job for row in ledger.each_job()))


def scope_of_jobs(jobs: Iterable[Job], finished: Iterable[str] = ()) -> Scope:
    """Return a scope of jobs that are in memory anyway."""
    by_number, done = {job.number: job for job in jobs}, frozenset(finished)
    units = ((number, job.unit, job.unit in done) for number, job in by_number.items())
    return _scope(units, by_number.get, by_number.values)


def _scope(
    units: Iterable[Unit], load: Callable[[int], Job | None], all_: Callable[[], Iterable[Job]]
) -> Scope:
    held = UnitsHeld(units)
    jobs = JobsHeld(held, load, all_)
    return Scope(held, jobs, Finished(held, jobs))
