"""The jobs' queues: an end in memory, older URLs in blocks on disk, a journal in front of both.

    push -> the tail of its job (and the journal) -> a block of the job -> taken, removed
    remove -> the job's `low` and `gone` (and the journal); blocks before `low` are deleted

A journal has generations. When one is long enough, the jobs that it speaks of are saved, a slice
with each commit: tails become blocks, counters and `low` go to the job's row; the next generation
continues meanwhile. When all are saved, the rows of the old generation go. So a commit costs the
same whatever is queued, and a start replays two generations at most.

What a job leaves behind when it is done is deleted in slices, so that a unit of a hundred
thousand pages does not hold up the loop.
Invariant: a job's row, its blocks, and the entries of the journal in order give its queue.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from agent.adapters.ledger.database import Database, Query, Value
from agent.adapters.ledger.jobs.job_states import Fifo, JobState
from agent.adapters.ledger.jobs.jobs import Jobs
from agent.adapters.ledger.jobs.journal import BLOCK_URLS, block_id, pack, record, unpack, url_of
from agent.pipeline.ledger import LEVEL_BITS, QueuedUrl

__all__ = ["JOURNAL_ENTRIES", "Queues"]

JOURNAL_ENTRIES: Final = 1 << 16
"""Entries of a generation: a start replays two of them in less than a second, and no more URLs
than that wait in tails: 20 MB."""

SAVED_JOBS: Final = 256
"""Jobs saved in one commit at least: some milliseconds."""

DELETED_BLOCKS: Final = 64
"""Blocks deleted in one commit, of jobs that are done."""

GARBAGE_JOBS: Final = 64
"""Jobs without any block left that are looked at in one commit."""

_SERIAL: Final = (1 << LEVEL_BITS) - 1
_GARBAGE: Final = Query[tuple[int]]("SELECT job FROM garbage")
_BLOCK: Final = Query[tuple[int, bytes]](
    "SELECT id, urls FROM blocks WHERE id >= ? ORDER BY id LIMIT 1"
)
_JOURNAL: Final = Query[tuple[int, bytes]]("SELECT generation, entries FROM journal ORDER BY id")


class Queues:
    """Waiting URLs of all jobs."""

    def __init__(
        self, database: Database, jobs: Jobs, waiting: int, journal_entries: int = JOURNAL_ENTRIES
    ) -> None:
        """Replay the journal. waiting: URLs in the queues, as far as saved."""
        self._database = database
        self._jobs = jobs
        self._most = journal_entries
        self._lines: list[bytes] = []  # since the last commit
        self._entries = 0  # of this generation
        self._generation = 0
        self._saving: dict[int, None] = {}  # jobs of the generation before that are not saved
        self._waiting = waiting  # URLs of all jobs
        self._to_save = 0  # how many they were
        self._garbage = {job: None for (job,) in database.ask(_GARBAGE)}
        self._replay()

    @property
    def changed(self) -> bool:
        """Return whether a commit has something to do here."""
        return bool(self._lines or self._jobs.counted or self._garbage or self._saving)

    def push(self, items: Iterable[QueuedUrl]) -> None:
        """Append to the queues of jobs that take URLs."""
        job = 0
        state: JobState | None = None
        for item in items:
            if item.job != job:
                job = item.job
                state = self._jobs.live(job)
            if state is not None:
                self._append(job, item.level, state, record(item, item.attempts, item.due_ms))

    def take(self, job: int, after: int, limit: int, level: int = 0) -> list[QueuedUrl]:
        """Return the next URLs of a job's level behind a position."""
        state = self._jobs.live(job)
        fifo = None if state is None else state.levels.get(level)
        if fifo is None:
            return []
        taken: list[QueuedUrl] = []
        base = level << LEVEL_BITS
        position = max(after - base + 1, fifo.low)
        while position < fifo.next and len(taken) < limit:
            first, records = self._records(job, level, fifo, position)
            for place in range(position - first, len(records)):
                if first + place not in fifo.gone:
                    taken.append(url_of(records[place], job, base | first + place, level))
                    if len(taken) == limit:
                        break
            position = first + len(records)
        return taken

    def queued(self, job: int) -> int:
        """Return how many URLs of a job wait or are under way."""
        state = self._jobs.live(job)
        return 0 if state is None else state.queued

    def waiting(self) -> int:
        """Return how many URLs of all jobs wait or are under way."""
        return self._waiting

    def remove(self, job: int, position: int) -> None:
        """Forget a URL."""
        state = self._jobs.live(job)
        if state is not None:
            self._remove(job, position, state)

    def keep(self, job: int, position: int) -> None:
        """Forget a URL whose page is kept, and count it."""
        state = self._jobs.live(job)
        if state is not None:
            state.kept += 1
            self._jobs.counted.add(job)
            self._remove(job, position, state)

    def _remove(self, job: int, position: int, state: JobState) -> None:
        fifo = state.levels.get(position >> LEVEL_BITS)
        if fifo is not None and fifo.remove(position & _SERIAL):
            state.queued -= 1
            self._waiting -= 1
            self._lines.append(b"- %d %d" % (job, position))
            self._jobs.unsaved[job] = None

    def retry(self, job: int, position: int, attempts: int, due_ms: int = 0) -> None:
        """Put a URL behind the others of its level."""
        level = position >> LEVEL_BITS
        found = self.take(job, position - 1, 1, level)
        if found and found[0].position == position:
            self.remove(job, position)
            state = self._jobs.live(job)
            assert state is not None
            self._append(job, level, state, record(found[0], attempts, due_ms))

    def keep_all(self, job: int) -> None:
        """Store the whole queue of a job that is about to be done, and count it no longer."""
        state = self._jobs.live(job)
        if state is not None:
            self._waiting -= state.queued
            self._insert(self._stored(job, state))

    def resume(self, job: int) -> None:
        """Count the queue of a job that was opened again."""
        self._waiting += self.queued(job)

    def discard(self, job: int, state: JobState) -> None:
        """Drop a job's blocks."""
        if not state.finished:
            self._waiting -= state.queued
        if any(fifo.stored > 1 for fifo in state.levels.values()):
            self._database.run("INSERT OR IGNORE INTO garbage (job) VALUES (?)", (job,))
            self._garbage[job] = None

    def empty(self, job: int) -> None:
        """Delete the blocks of a queue that is worked off; its positions continue."""
        state = self._jobs.live(job)
        if state is not None:
            for level, fifo in state.levels.items():
                self._clean(job, level, fifo)

    def flush(self) -> None:
        """Hand what happened to the open transaction, and save a slice of the jobs."""
        for number, state in self._jobs.counters():
            self._lines.append(
                b"= %d %d %d %d" % (number, state.pages, state.kept, state.response_bytes)
            )
            self._jobs.unsaved[number] = None
        if self._lines:
            self._database.run(
                "INSERT INTO journal (generation, entries) VALUES (?,?)",
                (self._generation, pack(self._lines)),
            )
        new, self._lines = len(self._lines), []
        self._entries += new
        full = self._entries >= self._most
        if self._saving:
            # As much of the jobs as of the next generation, and a quarter more: then the last
            # commit of a generation has nothing left to do at once.
            share = self._to_save * new * 5 // (4 * self._most) + 1
            self._save(len(self._saving) if full else max(SAVED_JOBS, share))
        if full:
            self._saving, self._jobs.unsaved = self._jobs.unsaved, {}
            self._to_save = len(self._saving)
            self._generation += 1
            self._entries = 0
        self._jobs.trim(self._saving)
        self._sweep()

    def _append(self, job: int, level: int, state: JobState, line: bytes) -> None:
        fifo = state.level(level)
        tail = fifo.tail
        position = level << LEVEL_BITS | fifo.stored + len(tail)
        self._lines.append(b"+ %d %d %b" % (job, position, line))
        tail.append(line)
        state.queued += 1
        self._waiting += 1
        self._jobs.unsaved[job] = None

    def _records(self, job: int, level: int, fifo: Fifo, position: int) -> tuple[int, list[bytes]]:
        """Return the records around a position, and the position of the first."""
        if position >= fifo.stored:
            return fifo.stored, fifo.tail
        [(last_id, urls)] = self._database.ask(_BLOCK, (block_id(job, level, position),))
        records = unpack(urls)
        return last_id - block_id(job, level, 0) - len(records) + 1, records

    def _save(self, count: int) -> None:
        """Save jobs of the generation before; with the last one its journal goes."""
        saved = list(islice(self._saving, count))
        rows: list[tuple[Value, ...]] = []
        for number in sorted(saved):  # neighbours in the tree
            del self._saving[number]
            state = self._jobs.live(number)
            if state is not None:
                rows += self._stored(number, state)
        self._insert(rows)
        self._jobs.save(saved)
        if not self._saving:
            self._database.run("DELETE FROM journal WHERE generation < ?", (self._generation,))

    def _stored(self, job: int, state: JobState) -> list[tuple[Value, ...]]:
        """Return the rows of the blocks into which the ends of a job's queue go."""
        rows: list[tuple[Value, ...]] = []
        for level, fifo in state.levels.items():
            self._clean(job, level, fifo)
            for start in range(0, len(fifo.tail), BLOCK_URLS):
                records = fifo.tail[start : start + BLOCK_URLS]
                last = fifo.stored + start + len(records) - 1
                rows.append((block_id(job, level, last), pack(records)))
            fifo.stored += len(fifo.tail)
            fifo.tail = []
        return rows

    def _insert(self, rows: list[tuple[Value, ...]]) -> None:
        self._database.run_many("INSERT INTO blocks (id, urls) VALUES (?,?)", rows)

    def _clean(self, job: int, level: int, fifo: Fifo) -> None:
        """Delete blocks that are worked off; of a queue that is empty nothing is stored."""
        if fifo.low == fifo.next:
            fifo.stored, fifo.tail = fifo.next, []
        if fifo.cleaned < fifo.low and fifo.stored > 1:
            self._database.run(
                "DELETE FROM blocks WHERE id BETWEEN ? AND ?",
                (block_id(job, level, 1), block_id(job, level, fifo.low - 1)),
            )
            fifo.cleaned = fifo.low

    def _sweep(self) -> None:
        """Delete a slice of the discarded blocks."""
        left = DELETED_BLOCKS
        done = []
        for job in islice(self._garbage, GARBAGE_JOBS):
            deleted = self._database.run(
                "DELETE FROM blocks WHERE id IN "
                "(SELECT id FROM blocks WHERE id BETWEEN ? AND ? LIMIT ?)",
                (block_id(job, 0, 0), block_id(job + 1, 0, 0) - 1, left),
            )
            left -= deleted
            if left <= 0:
                break
            done.append(job)
        self._database.run_many("DELETE FROM garbage WHERE job = ?", [(job,) for job in done])
        for job in done:
            del self._garbage[job]

    def _replay(self) -> None:
        for generation, entries in self._database.ask(_JOURNAL):
            lines = unpack(entries)
            for line in lines:
                self._replay_line(line)
            self._generation = generation
            self._entries += len(lines)
        # Jobs that were being saved are saved again: one generation.
        self._database.run(
            "UPDATE journal SET generation = ?1 WHERE generation < ?1", (self._generation,)
        )

    def _replay_line(self, line: bytes) -> None:
        kind, number, rest = line.split(b" ", 2)
        job = int(number)
        state = self._jobs.state(job)
        if state is None:
            return
        self._jobs.unsaved[job] = None
        if kind == b"=":
            state.pages, state.kept, state.response_bytes = map(int, rest.split())
        elif state.finished:
            return
        elif kind == b"-":
            position = int(rest)
            fifo = state.level(position >> LEVEL_BITS)
            if fifo.remove(position & _SERIAL):
                state.queued -= 1
                self._waiting -= 1
        else:
            place, _, text = rest.partition(b" ")
            fifo = state.level(int(place) >> LEVEL_BITS)
            if int(place) & _SERIAL == fifo.next:
                fifo.tail.append(text)
                state.queued += 1
                self._waiting += 1
