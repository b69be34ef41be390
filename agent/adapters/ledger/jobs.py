"""The jobs of the list in force: orders on disk, and in memory the numbers of those in use.

What changes with each page (counters, the ends of the queue) is in a `JobState`. At each commit
what changed goes into the journal; a job is saved into its row behind that, and may then leave
the memory, so that a million jobs need no more of it than `IN_MEMORY`.

Invariant: a state that is not in memory is the one of its row.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from agent.adapters.ledger.database import Database, Value, numbers
from agent.pipeline.messages.jobs import Job
from agent.pipeline.ports.ledger_rows import LEVELS, JobRow, OpenJob

__all__ = ["IN_MEMORY", "Fifo", "JobState", "Jobs"]

IN_MEMORY: Final = 1 << 15
"""States of jobs that nothing happens to: 0.5 KB each."""

LOOKED_AT: Final = 4096
"""States that one commit examines to release them; and rows in search of a few."""

ROWS_AT_A_TIME: Final = 10_000

ORDERS_AT_A_TIME: Final = 1000
"""Orders that are read in one moment: 5 us each."""

_STATE: Final = "finished, pages, kept, response_bytes, queued, queue"


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
    pages: int = 0
    kept: int = 0
    response_bytes: int = 0
    queued: int = 0  # URLs in all levels
    levels: dict[int, Fifo] = field(default_factory=dict)

    @property
    def met(self) -> int:
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


class Jobs:
    """All jobs, by number."""

    def __init__(self, database: Database, in_memory: int = IN_MEMORY) -> None:
        self._database = database
        self._in_memory = in_memory
        self._states: dict[int, JobState] = {}
        self.counted: set[int] = set()  # since the last commit
        self.unsaved: dict[int, None] = {}  # what the journal of now says something of

    def rows(self) -> Iterator[JobRow]:
        """Yield all, by number."""
        query = (
            f"SELECT number, job, host, address, {_STATE} FROM jobs "  # noqa: S608  # our names
            "WHERE number > ? ORDER BY number LIMIT ?"
        )
        for part in self._parts(query):
            yield from map(self._row, part)

    def orders(self) -> Iterator[list[tuple[Job, bool]]]:
        """Yield orders, and whether they are finished, by number, some at a time."""
        query = "SELECT number, job, finished FROM jobs WHERE number > ? ORDER BY number LIMIT ?"
        for part in self._parts(query, at_a_time=ORDERS_AT_A_TIME):
            yield [(_job(str(order)), finished != 0) for _, order, finished in part]

    def shares_hosts(self) -> bool:
        """Return whether any job is a piece of a split host."""
        # Most orders are passed over without being parsed.
        query = (
            "SELECT 1 FROM jobs WHERE instr(job, '\"share\":0') = 0 "
            "AND json_extract(job, '$.share') > 0 LIMIT 1"
        )
        return bool(self._database.ask(query))

    def units(self) -> Iterator[tuple[int, str, bool]]:
        """Yield numbers, units, and whether they are finished, by number."""
        query = (
            "SELECT number, json_extract(job, '$.unit'), finished FROM jobs "
            "WHERE number > ? ORDER BY number LIMIT ?"
        )
        for part in self._parts(query):
            for number, unit, finished in cast(list[tuple[int, str, int]], part):
                yield number, unit, finished != 0

    def get(self, number: int) -> JobRow | None:
        """Return one, or None."""
        rows = self._database.ask(
            f"SELECT number, job, host, address, {_STATE} FROM jobs WHERE number = ?",  # noqa: S608
            (number,),
        )
        return self._row(rows[0]) if rows else None

    def state(self, number: int) -> JobState | None:
        """Return the state of a job, or None where there is no such job."""
        state = self._states.get(number)
        if state is None:
            rows = self._database.ask(
                f"SELECT {_STATE} FROM jobs WHERE number = ?",  # noqa: S608  # our names
                (number,),
            )
            if rows:
                state = self._states[number] = _state(rows[0])
        return state

    def live(self, number: int) -> JobState | None:
        """Return the state of a job that takes URLs, or None."""
        state = self._states.get(number)
        if state is None:
            state = self.state(number)
            if state is None:
                return None
        return None if state.finished else state

    def live_numbers(self, limit: int) -> NDArray[np.uint32]:
        """Return the numbers of jobs that take URLs, in order, at most `limit`."""
        query = "SELECT number FROM jobs WHERE finished = 0 ORDER BY number LIMIT ?"
        return np.array(numbers(self._database.ask(query, (limit,))), np.uint32)

    def met(self) -> int:
        """Return how many URLs entered the queues of jobs that take URLs, as far as saved."""
        [(total,)] = self._database.ask("SELECT sum(met) FROM jobs WHERE finished = 0")
        return int(str(total or 0))

    def queued(self) -> int:
        """Return how many URLs are in the queues of all jobs that take any, as far as saved."""
        [(total,)] = self._database.ask("SELECT sum(queued) FROM jobs WHERE finished = 0")
        return int(str(total or 0))

    def open(self, job: Job) -> None:
        """Remember a job; of a known one the order is replaced."""
        self._database.run(
            "INSERT INTO jobs (number, job, host, address, finished, pages, kept, response_bytes, "
            "queue, queued, met) VALUES (?,?,'','',0,0,0,0,'{}',0,0) "
            "ON CONFLICT (number) DO UPDATE SET job = excluded.job",
            (job.number, _order(job)),
        )

    def place(self, number: int, host: str, address: str) -> None:
        """Remember where a job's host answers."""
        self._database.run(
            "UPDATE jobs SET host = ?, address = ? WHERE number = ?", (host, address, number)
        )

    def count(self, number: int, pages: int, kept: int, response_bytes: int) -> None:
        """Add to a job's counters."""
        state = self._states.get(number) or self.state(number)
        if state is not None:
            state.pages += pages
            state.kept += kept
            state.response_bytes += response_bytes
            self.counted.add(number)

    def finish(self, number: int) -> None:
        """Mark a job as done; its queue is empty."""
        state = self.state(number)
        if state is not None:
            state.finished = True
            state.levels, state.queued = {}, 0
            self.save([number])
            self._database.run("UPDATE jobs SET finished = 1 WHERE number = ?", (number,))

    def drop(self, number: int) -> None:
        """Forget a job."""
        self._states.pop(number, None)
        self.counted.discard(number)
        self._database.run("DELETE FROM jobs WHERE number = ?", (number,))

    def counters(self) -> Iterator[tuple[int, JobState]]:
        """Yield the jobs whose counters changed since the last commit, and forget that."""
        for number in self.counted:
            yield number, self._states[number]
        self.counted.clear()

    def save(self, saved: list[int]) -> None:
        """Bring rows up to date; whoever saves has put the tails into blocks."""
        rows = [
            (*_values(self._states[number]), number) for number in saved if number in self._states
        ]
        self._database.run_many(
            "UPDATE jobs SET pages = ?, kept = ?, response_bytes = ?, queue = ?, queued = ?, "
            "met = ? WHERE number = ?",
            rows,
        )

    def trim(self, needed: dict[int, None]) -> None:
        """Evict saved states where there are too many.

        needed: numbers that are not saved yet, beside `unsaved`.
        """
        excess = len(self._states) - self._in_memory
        if excess <= 0:
            return
        for number in list(islice(self._states, min(LOOKED_AT, 2 * excess))):
            state = self._states.pop(number)
            if number in self.unsaved or number in needed or number in self.counted:
                self._states[number] = state  # behind the others

    def open_jobs(self, after: int) -> Iterator[OpenJob]:
        """Yield the jobs that are not finished, by number, those behind one."""
        query = (
            "SELECT number, address, queued, json_extract(job, '$.interval_ms') FROM jobs "
            "WHERE number > ? AND finished = 0 ORDER BY number LIMIT ?"
        )
        states = self._states
        for part in self._parts(query, after):
            rows = cast(list[tuple[int, str, int, int | None]], part)
            for number, address, queued, interval_ms in rows:
                state = states.get(number)  # the row is as of the last save
                left = queued if state is None else state.queued
                yield OpenJob(number, address, left, interval_ms or 0)

    def unplaced(self) -> Iterator[list[int]]:
        """Yield the numbers of the jobs neither finished nor placed, of some rows at a time."""
        query = (
            "SELECT max(number), json_group_array(number) FILTER (WHERE address = '') FROM "
            "(SELECT number, address FROM jobs WHERE number > ? AND finished = 0 "
            "ORDER BY number LIMIT ?)"
        )
        last: Value = -1
        while True:
            [(last, found)] = self._database.ask(query, (last, LOOKED_AT))
            if last is None:
                return
            yield json.loads(str(found))

    def at(self, address: str) -> list[JobRow]:
        """Return the jobs that are not finished and were placed at an address, by number."""
        rows = self._database.ask(
            f"SELECT number, job, host, address, {_STATE} FROM jobs "  # noqa: S608  # our names
            "WHERE address = ? AND address <> '' AND finished = 0 ORDER BY number",
            (address,),
        )
        return [self._row(row) for row in rows]

    def _parts(
        self, query: str, last: int = -1, at_a_time: int = ROWS_AT_A_TIME
    ) -> Iterator[list[tuple[Value, ...]]]:
        """Yield the rows of a query behind a number, some at a time; the number comes first."""
        while part := self._database.ask(query, (last, at_a_time)):
            last = int(str(part[-1][0]))
            yield part

    def _row(self, row: tuple[Value, ...]) -> JobRow:
        number, order, host, address, *rest = row
        state = self._states.get(int(str(number))) or _state(tuple(rest))
        job = _job(str(order))
        return JobRow(
            job,
            job.unit if host == job.unit else str(host),  # one text, as most units are hosts
            str(address),
            state.pages,
            state.kept,
            state.response_bytes,
            state.finished,
        )


def _values(state: JobState) -> tuple[Value, ...]:
    levels = {
        level: (fifo.low, fifo.stored, sorted(fifo.gone)) for level, fifo in state.levels.items()
    }
    queue = json.dumps(levels, separators=(",", ":"))
    return (state.pages, state.kept, state.response_bytes, queue, state.queued, state.met)


def _state(row: tuple[Value, ...]) -> JobState:
    *numbers_, queue = row
    finished, pages, kept, response_bytes, queued = (int(str(one)) for one in numbers_)
    levels = {
        int(level): Fifo(low, stored, set(gone))
        for level, (low, stored, gone) in json.loads(str(queue)).items()
    }
    return JobState(bool(finished), pages, kept, response_bytes, queued, levels)


def _order(job: Job) -> str:
    return json.dumps(asdict(job), separators=(",", ":"))


def _job(order: str) -> Job:
    fields = json.loads(order)
    fields["excepted"] = tuple(fields["excepted"])
    fields["kind"] = sys.intern(fields["kind"])
    fields["start_pages"] = tuple((url, referer) for url, referer in fields["start_pages"])
    return Job(**fields)
