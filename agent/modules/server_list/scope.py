"""The agent's scope, packed: 20 bytes in memory for each of a million units, orders on disk.

A unit that is a whole host is its name's 64-bit hash with this process's secret, and the number of
its job. A caller of the job gets it from the ledger, and there its unit is compared, so that
two names with one hash are never taken for each other. Hosts that are split keep their units as
texts: which of them holds a page needs the text.

Units that begin lie in a small dictionary until there are `PACKED` of them: to put one into the
packed tables moves half of them.

Invariant: the jobs of the ledger are those of the list in force, or of a list that is being taken
up to the last slice taken. A scope is made of them when a process begins; then `seed` keeps both
alike.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from agent.pipeline.ledger import Ledger
from agent.pipeline.messages.jobs import Job
from shared.frozen import frozen
from shared.units import UnitIndex, is_whole_host
from shared.urls import host_of

__all__ = ["Finished", "JobsHeld", "Scope", "UnitsHeld", "scope_of", "scope_of_jobs"]

JOBS_REMEMBERED: Final = 4096  # orders that were read from the ledger lately
PACKED: Final = 1 << 14

_OPEN: Final = 0  # state of a unit
_DONE: Final = 1
_GONE: Final = 2

T = TypeVar("T")

Unit = tuple[int, str, bool]
"""Number of its job, unit, whether the job is finished."""


class UnitsHeld:
    """Units with their jobs, and whether those are done; answers as `UnitIndex` does."""

    def __init__(self, units: Iterable[Unit]) -> None:
        keys, numbers, states = array("q"), array("q"), bytearray()
        self._split = UnitIndex()
        self._of_split: dict[str, list[int]] = {}  # number and state
        for number, unit, finished in units:
            if is_whole_host(unit):
                keys.append(hash(unit))
                numbers.append(number)
                states.append(finished)
            else:
                self._split.add(unit)
                self._of_split[unit] = [number, finished]
        self._begun: dict[int, list[int]] = {}  # by key: number and state; not packed yet
        self._gone = 0  # of the packed ones
        self._pack(
            np.frombuffer(keys, np.int64),
            np.frombuffer(numbers, np.int64),
            np.frombuffer(states, np.uint8),
        )
        for host in {host_of(unit) for unit in self._of_split}:
            if self._state(host) is not None:
                self._split.add(host)
        self.finished = self._states.count(_DONE) + sum(one[1] for one in self._of_split.values())

    def __len__(self) -> int:
        return len(self._keys) - self._gone + len(self._begun) + len(self._of_split)

    def unit_of(self, url: str) -> str | None:
        """Return the longest unit that holds a canonical URL, or None: outside all units."""
        host = host_of(url)
        if self._split.of_host(host):
            return self._split.unit_of(url)
        return host if self._state(host) is not None else None

    def of_host(self, host: str) -> tuple[str, ...]:
        """Return the units of a host."""
        split = self._split.of_host(host)
        if split:
            return split
        return (host,) if self._state(host) is not None else ()

    def number(self, unit: str) -> int | None:
        """Return the number of a unit's job, or None."""
        one = self._apart(unit)
        if one is not None:
            return one[0]
        place = self._place(unit)
        return None if place is None else self._numbers[place]

    def is_finished(self, unit: str) -> bool:
        """Return whether a unit's job is done."""
        return self._state(unit) == _DONE

    def finish(self, unit: str) -> None:
        """Note that a unit's job is done."""
        if self._state(unit) == _OPEN:
            self.finished += 1
            self._set(unit, _DONE)

    def reopen(self, unit: str) -> None:
        """Note that a unit's job, which was done, continues."""
        if self._state(unit) == _DONE:
            self.finished -= 1
            self._set(unit, _OPEN)

    def begin(self, number: int, unit: str) -> None:
        """Take in a unit that is not held, with the number of its job."""
        host = host_of(unit)
        if is_whole_host(unit):
            self._begun[hash(unit)] = [number, _OPEN]
            if self._split.of_host(unit):
                self._split.add(unit)
            if len(self._begun) >= PACKED:
                self._pack_begun()
            return
        self._split.add(unit)
        self._of_split[unit] = [number, _OPEN]
        if self._state(host) is not None:
            self._split.add(host)

    def end(self, unit: str) -> None:
        """Drop a unit; an unknown one is ignored."""
        state = self._state(unit)
        if state is None:
            return
        self.finished -= state == _DONE
        if self._of_split.pop(unit, None) is None and self._begun.pop(hash(unit), None) is None:
            self._set(unit, _GONE)
            self._gone += 1
        self._split.discard(unit)
        host = host_of(unit)
        if self._split.of_host(host) == (host,):
            self._split.discard(host)  # it is no longer split

    def _state(self, unit: str) -> int | None:
        one = self._apart(unit)
        if one is not None:
            return one[1]
        place = self._place(unit)
        return None if place is None else self._states[place]

    def _set(self, unit: str, state: int) -> None:
        one = self._apart(unit)
        place = self._place(unit)
        if one is not None:
            one[1] = state
        elif place is not None:
            self._states[place] = state

    def _apart(self, unit: str) -> list[int] | None:
        """Return what is known of a unit that is not packed; None: it is, or it is not held."""
        return self._of_split.get(unit) or self._begun.get(hash(unit))

    def _place(self, unit: str) -> int | None:
        key, keys = hash(unit), self._keys
        place = bisect_left(keys, key)
        if place < len(keys) and keys[place] == key and self._states[place] != _GONE:
            return place
        return None

    def _pack_begun(self) -> None:
        """Pack the new units, and release the room of those that are gone."""
        stays = np.frombuffer(self._states, np.uint8) != _GONE
        begun = np.array(list(self._begun.values()), np.int64)
        self._pack(
            np.concatenate(
                (np.frombuffer(self._keys, np.int64)[stays], np.array(list(self._begun), np.int64))
            ),
            np.concatenate((np.frombuffer(self._numbers, np.int64)[stays], begun[:, 0])),
            np.concatenate(
                (np.frombuffer(self._states, np.uint8)[stays], begun[:, 1].astype(np.uint8))
            ),
        )
        self._begun, self._gone = {}, 0

    def _pack(
        self, keys: NDArray[np.int64], numbers: NDArray[np.int64], states: NDArray[np.uint8]
    ) -> None:
        order = np.argsort(keys, kind="stable")
        self._keys = array("q", keys[order].tobytes())
        self._numbers = array("q", numbers[order].tobytes())
        self._states = bytearray(states[order].tobytes())


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

    def forget(self, number: int) -> None:
        """Read an order from the ledger again when it is asked for: it changed, or is gone."""
        self._read.pop(number, None)


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


@frozen
class Scope:
    """Scope of the agent: the job of each page.

    finished: units whose job is done, so that nothing of them is fetched again. resting: pieces of
    split hosts of which nothing is left to fetch, and which only a list wakes again.
    A process has one scope. `seed` changes it in place, and `ListChanged` reports each change:
    a copy for each unit that is done would cost more and more.
    """

    units: UnitsHeld
    jobs: JobsHeld  # by unit
    finished: AbstractSet[str]
    resting: set[str] = field(default_factory=set)

    def job_of(self, url: str) -> Job | None:
        """Return the job whose unit is the longest that holds a canonical URL, or None."""
        unit = self.units.unit_of(url)
        return None if unit is None else self.jobs.get(unit)


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
