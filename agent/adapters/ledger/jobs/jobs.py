"""The jobs of the list in force: rows on disk, and in memory the states of those in use.

What changes with each page (counters, the ends of the queue) is in a `JobState`. At each commit
what changed goes into the journal; a job is saved into its row behind that, and may then leave
the memory, so that a million jobs need no more of it than `IN_MEMORY`.

Invariant: a state that is not in memory is the one of its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from agent.adapters.ledger.database import Database, Query
from agent.adapters.ledger.jobs.job_orders import order_text, read_order, row_slices
from agent.adapters.ledger.jobs.job_states import (
    ENDED,
    KEPT,
    REOPENS,
    STATE,
    JobState,
    StateColumns,
    read_state,
    saved_columns,
)
from agent.pipeline.ledger import JobRow, OpenJob
from agent.pipeline.messages.jobs import Job

__all__ = ["IN_MEMORY", "Jobs"]

IN_MEMORY: Final = 1 << 15
"""States of jobs that nothing happens to: 0.5 KB each."""

EXAMINED: Final = 4096
"""States that one commit examines to release them."""

_Columns = tuple[int, str, str, str, int, int, int, int, int, str]
_ROW: Final = f"SELECT number, job, host, address, {STATE} FROM jobs"  # noqa: S608  # our names
_ROWS: Final = Query[_Columns](f"{_ROW} WHERE number > ? ORDER BY number LIMIT ?")
_ONE: Final = Query[_Columns](f"{_ROW} WHERE number = ?")
_AT: Final = Query[_Columns](
    f"{_ROW} WHERE address = ? AND address <> '' AND finished = 0 ORDER BY number"
)
_STATE: Final = Query[StateColumns](f"SELECT {STATE} FROM jobs WHERE number = ?")  # noqa: S608
_OPEN: Final = Query[tuple[int, str, int, int | None]](
    "SELECT number, address, queued, json_extract(job, '$.interval_ms') FROM jobs "
    "WHERE number > ? AND finished = 0 ORDER BY number LIMIT ?"
)


class Jobs:
    """All jobs, by number."""

    def __init__(self, database: Database, next_number: int, in_memory: int = IN_MEMORY) -> None:
        """Take the number of the next job."""
        self._database = database
        self.next_number = next_number
        self._in_memory = in_memory
        self._states: dict[int, JobState] = {}
        self.counted: set[int] = set()  # since the last commit
        self.unsaved: dict[int, None] = {}  # jobs of the journal's generation

    def rows(self) -> Iterator[JobRow]:
        """Yield all, by number."""
        for rows in row_slices(self._database, _ROWS):
            yield from map(self._row, rows)

    def get(self, number: int) -> JobRow | None:
        """Return one, or None."""
        rows = self._database.ask(_ONE, (number,))
        return self._row(rows[0]) if rows else None

    def at(self, address: str) -> list[JobRow]:
        """Return the jobs that are not finished and were placed at an address, by number."""
        return [self._row(row) for row in self._database.ask(_AT, (address,))]

    def open_jobs(self, after: int = 0) -> Iterator[OpenJob]:
        """Yield the jobs that are not finished, by number, those behind one."""
        states = self._states
        for rows in row_slices(self._database, _OPEN, after):
            for number, address, queued, interval_ms in rows:
                state = states.get(number)  # the row is as of the last save
                left = queued if state is None else state.queued
                yield OpenJob(number, address, left, interval_ms or 0)

    def state(self, number: int) -> JobState | None:
        """Return the state of a job, or None where there is no such job."""
        state = self._states.get(number)
        if state is None:
            rows = self._database.ask(_STATE, (number,))
            if rows:
                state = self._states[number] = read_state(rows[0])
        return state

    def live(self, number: int) -> JobState | None:
        """Return the state of a job that takes URLs, or None."""
        state = self._states.get(number)
        if state is None:
            state = self.state(number)
            if state is None:
                return None
        return None if state.finished else state

    def new_number(self) -> int:
        """Return a number that no job had before."""
        self.next_number += 1
        return self.next_number - 1

    def open(self, job: Job) -> None:
        """Remember a job; of a known one the order is replaced."""
        self._database.run(
            "INSERT INTO jobs (number, job, host, address, finished, pages, kept, response_bytes, "
            "queue, queued, met) VALUES (?,?,'','',0,0,0,0,'{}',0,0) "
            "ON CONFLICT (number) DO UPDATE SET job = excluded.job",
            (job.number, order_text(job)),
        )
        self.next_number = max(self.next_number, job.number + 1)

    def place(self, job: int, host: str, address: str) -> None:
        """Remember where a job's host answers."""
        self._database.run(
            "UPDATE jobs SET host = ?, address = ? WHERE number = ?", (host, address, job)
        )

    def count(self, job: int, *, pages: int, kept: int, response_bytes: int) -> None:
        """Add to a job's counters."""
        state = self._states.get(job) or self.state(job)
        if state is not None:
            state.pages += pages
            state.kept += kept
            state.response_bytes += response_bytes
            self.counted.add(job)

    def finish(self, number: int, *, may_reopen: bool = False, keeps_queue: bool = False) -> None:
        """Mark a job as done; its queue is empty, or in blocks where it keeps it.

        may_reopen: the positions of its queue continue, if it is opened again.
        """
        state = self.state(number)
        if state is not None:
            state.finished, state.may_reopen = True, may_reopen or keeps_queue
            if not state.may_reopen:
                state.levels, state.queued = {}, 0
            self.save([number])
            self._mark(number, KEPT if keeps_queue else REOPENS if may_reopen else ENDED)

    def may_reopen(self, number: int) -> bool:
        """Return whether a job that is done can be opened again."""
        state = self.state(number)
        return state is not None and state.may_reopen

    def reopen(self, number: int) -> bool:
        """Reopen a job that is done; return whether it can continue."""
        state = self.state(number)
        if state is None or not state.may_reopen:
            return False
        state.finished = state.may_reopen = False
        self._mark(number, 0)
        return True

    def _mark(self, number: int, finished: int) -> None:
        self._database.run("UPDATE jobs SET finished = ? WHERE number = ?", (finished, number))

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
        """Bring rows up to date; the tails of their queues are in blocks already."""
        rows = [
            (*saved_columns(self._states[number]), number)
            for number in saved
            if number in self._states
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
        for number in list(islice(self._states, min(EXAMINED, 2 * excess))):
            state = self._states.pop(number)
            if number in self.unsaved or number in needed or number in self.counted:
                self._states[number] = state  # behind the others

    def _row(self, row: _Columns) -> JobRow:
        number, order, host, address, *_ = row
        state = self._states.get(number) or read_state(row[4:])
        job = read_order(order)
        return JobRow(
            job,
            job.unit if host == job.unit else host,  # one text, as most units are hosts
            address,
            state.pages,
            state.kept,
            state.response_bytes,
            state.finished,
        )
