"""The ledger on SQLite: what is asked goes to its parts; `commit` binds them together.

A commit first syncs the segment, the links and the log, then one transaction stores every change
with the new lengths of these files. `open` cuts them back to the lengths that it finds. So the
transaction is the only moment at which anything becomes true. What is cut off goes to the trash;
where the ledger is older than its files, as after a restore, what its newer self committed is kept:
whole captures are sealed, and logs that were not handed on are closed.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from agent.adapters.ledger.backoff_rows import Rests
from agent.adapters.ledger.commit_mark import CommitMark, Committed
from agent.adapters.ledger.crawl_log import (
    ClosedLog,
    CrawlLog,
    LogState,
    discard_logs,
    logs_since,
)
from agent.adapters.ledger.database import SEEN, Database
from agent.adapters.ledger.jobs import IN_MEMORY, Jobs
from agent.adapters.ledger.open_index import OpenIndex
from agent.adapters.ledger.queues import JOURNAL_ENTRIES, Queues
from agent.adapters.ledger.runs import RUN_KEYS
from agent.adapters.ledger.seen import SeenSet, Submit
from agent.adapters.ledger.segments import Segments, SegmentState
from agent.adapters.ledger.trash import Trash
from agent.pipeline.messages.jobs import Job
from agent.pipeline.messages.requests import FetchAnswer
from agent.pipeline.ports.clock import Clock
from agent.pipeline.ports.ledger_rows import JobRow, OpenJob, QueuedUrl, Rest
from shared.archive.encode import EncodedCapture, SegmentInfo
from shared.archive.segment import OpenFile
from shared.archive.writer import DEFAULT_MAX_BYTES
from shared.frozen import frozen

__all__ = ["LedgerOptions", "SqliteLedger"]

DATABASE: Final = "ledger.sqlite"
SEGMENTS: Final = "segments"
LOGS: Final = "logs"


@frozen
class LedgerOptions:
    """Fields and size limits of the segments that the ledger writes.

    agent: names the segments. prefix: before that, as `prsm`. The last three bound its memory.
    """

    agent: str
    info: SegmentInfo
    prefix: str = "prsm"
    max_segment_bytes: int = DEFAULT_MAX_BYTES
    run_keys: int = RUN_KEYS
    journal_entries: int = JOURNAL_ENTRIES
    jobs_in_memory: int = IN_MEMORY


@dataclass(slots=True)
class _Numbers:
    secret: bytes
    next_job: int
    segments: SegmentState
    log: LogState


class SqliteLedger:
    """Fulfils `agent.pipeline.ports.ledger.Ledger` in one folder, for one process at a time."""

    def __init__(
        self,
        database: Database,
        numbers: _Numbers,
        segments: Segments,
        log: CrawlLog,
        options: LedgerOptions,
        submit: Submit | None,
        commit_mark: CommitMark,
    ) -> None:
        """Use `open`."""
        self.database = database
        self.mark = commit_mark.name
        """The id of this ledger in its reports; a restored older copy gets another one."""
        self._commit_mark = commit_mark
        self._segments = segments
        self._log = log
        self._threads = ThreadPoolExecutor(1, "seen-runs")
        self._syncing = ThreadPoolExecutor(2, "sync")
        self._jobs = Jobs(database, options.jobs_in_memory)
        self._queues = Queues(database, self._jobs, options.journal_entries)
        self._rests = Rests(database)
        self._seen = SeenSet(
            database.path.parent / SEEN,
            database,
            numbers.secret,
            self._jobs.live_numbers,
            submit or self._threads.submit,
            options.run_keys,
        )
        self._seen.discard(max(0, self._seen.keys - self._jobs.met()))
        self._next_job = numbers.next_job
        self._last: tuple[object, ...] = ()
        self._to_delete: list[Path] = []
        rows = database.ask("SELECT serial FROM closed_logs")
        log.remove_unknown({_whole(serial) for (serial,) in rows}, Trash(database.path.parent))

    @classmethod
    def open(
        cls,
        folder: Path,
        options: LedgerOptions,
        clock: Clock,
        open_file: OpenFile = io.FileIO,
        submit: Submit | None = None,
    ) -> Self:
        """Open the ledger of a folder as its last commit left it, or begin one.

        submit: has runs of known keys written; None: by a thread.
        Raises HomeError where committed data are missing; DiskFullError.
        """
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            database = stack.enter_context(closing(Database(folder / DATABASE)))
            known = _read_numbers(database)  # none until the first commit below
            numbers = known or _first_numbers(database, clock.epoch_ms())
            mark = CommitMark(folder, numbers.secret)
            stack.callback(mark.close)
            is_older = known is not None and _catch_up(database, folder / LOGS, numbers, mark)
            segments = Segments(
                folder / SEGMENTS,
                numbers.segments,
                prefix=options.prefix,
                agent=options.agent,
                info=options.info,
                max_bytes=options.max_segment_bytes,
                keep_strays=known is None or is_older,
                trash=Trash(folder),
                index=OpenIndex(database),
                open_file=open_file,
            )
            stack.callback(segments.close)
            if known is None:
                discard_logs(folder / LOGS, Trash(folder))
            log = CrawlLog(folder / LOGS, numbers.log, open_file, Trash(folder))
            stack.callback(log.close)
            ledger = cls(database, numbers, segments, log, options, submit, mark)
            ledger.commit()
            stack.pop_all()
        return ledger

    # jobs

    def jobs(self) -> list[JobRow]:
        """Return the jobs of the list in force, by number."""
        return list(self._jobs.rows())

    def each_job(self) -> Iterator[JobRow]:
        """Yield the same, with few of them in memory at a time."""
        return self._jobs.rows()

    def orders(self) -> Iterator[list[tuple[Job, bool]]]:
        """Yield of each of them the order, and whether it is finished, some at a time."""
        return self._jobs.orders()

    def shares_hosts(self) -> bool:
        """Return whether any of them is a piece of a split host."""
        return self._jobs.shares_hosts()

    def units(self) -> Iterator[tuple[int, str, bool]]:
        """Yield of each of them its number, its unit, and whether it is finished."""
        return self._jobs.units()

    def job(self, number: int) -> JobRow | None:
        """Return one of them, or None."""
        return self._jobs.get(number)

    def open_jobs(self, after: int = 0) -> Iterator[OpenJob]:
        """Yield those that are not finished, by number, with few of them in memory at a time."""
        return self._jobs.open_jobs(after)

    def unplaced_jobs(self) -> Iterator[list[int]]:
        """Yield the numbers of those that are neither finished nor placed, a few each time."""
        return self._jobs.unplaced()

    def jobs_at(self, address: str) -> list[JobRow]:
        """Return those that are not finished and were placed at an address, by number."""
        return self._jobs.at(address)

    def new_job_number(self) -> int:
        """Return a number no job of this installation had before."""
        self._next_job += 1
        return self._next_job - 1

    def open_job(self, job: Job) -> None:
        """Remember a job; of a known number the order is replaced, all else stays."""
        self._jobs.open(job)
        self._next_job = max(self._next_job, job.number + 1)

    def place_job(self, job: int, host: str, address: str) -> None:
        """Remember where a job's host answers."""
        self._jobs.place(job, host, address)

    def count(self, job: int, *, pages: int, kept: int, response_bytes: int) -> None:
        """Add to a job's counters."""
        self._jobs.count(job, pages, kept, response_bytes)

    def finish_job(self, job: int) -> None:
        """Remember that a job is done: its queue and seen-set are dropped, its row stays."""
        self._discard(job)
        self._jobs.finish(job)

    def drop_job(self, job: int) -> None:
        """Forget a job that left the list: row, queue and seen-set."""
        self._discard(job)
        self._jobs.drop(job)

    # dedup and frontier

    def add_new(self, job: int, urls: Sequence[str]) -> list[bool]:
        """Enter URLs into a job's exact seen-set; return for each whether it was new."""
        if self._jobs.live(job) is None:
            return [False] * len(urls)
        return self._seen.add(job, urls)

    def push(self, items: Iterable[QueuedUrl]) -> None:
        """Append to the jobs' queues; positions are chosen here."""
        self._queues.push(items)

    def take(self, job: int, after: int, limit: int, level: int = 0) -> list[QueuedUrl]:
        """Return the next queued URLs of a job's level behind a position, without removing them."""
        return self._queues.take(job, after, limit, level)

    def queued(self, job: int) -> int:
        """Return how many URLs of a job wait or are under way."""
        state = self._jobs.live(job)
        return 0 if state is None else state.queued

    def waiting(self) -> int:
        """Return how many URLs of all jobs wait or are under way."""
        return self._queues.waiting

    def remove(self, job: int, position: int) -> None:
        """Forget a URL that is done or given up; one that is not there stays forgotten."""
        self._queues.remove(job, position)

    def keep(self, job: int, position: int) -> None:
        """Forget a URL whose page is kept, and count it."""
        self._queues.keep(job, position)

    def retry(self, job: int, position: int, attempts: int, due_ms: int = 0) -> None:
        """Put a URL behind the others of its level; attempts: so far, due_ms: not before."""
        self._queues.retry(job, position, attempts, due_ms)

    # politeness

    def rests(self) -> list[Rest]:
        """Return the addresses that were left alone for longer, in any order."""
        return self._rests.all()

    def keep_rest(self, rest: Rest) -> None:
        """Remember a rest; it replaces the earlier one of its address."""
        self._rests.keep(rest)

    def forget_rest(self, address: str) -> None:
        """Forget an address; one that is not there stays forgotten."""
        self._rests.forget(address)

    @property
    def known(self) -> int:
        """Return how many URLs are known, those of jobs that are done too until they are freed."""
        return self._seen.keys

    # store

    def append_captures(self, captures: Sequence[tuple[EncodedCapture, tuple[str, ...]]]) -> None:
        """Append captures to the open segment, and the links that leave their hosts beside it.

        Raises DiskFullError: nothing of them was written.
        """
        self._segments.append(captures)

    def append_log(self, requests: Sequence[FetchAnswer]) -> None:
        """Append requests to the open crawl log; raises DiskFullError: none of them is there."""
        self._log.append(requests)

    def commit(self) -> None:
        """Sync the append-only files, then make all changes durable in one transaction.

        Raises DiskFullError: everything is kept, call again when there is room; HomeError and
        SegmentBrokenError: the disk failed, the process must end and start again.
        """
        self._sync()
        self._store()
        for paths in (self._to_delete, self._seen.to_delete):
            while paths:
                paths.pop().unlink(missing_ok=True)
        if self._segments.seal_if_full():
            self._store()  # a sealed segment may be taken away at once

    # beyond the port

    def close_log(self, now_ms: int) -> ClosedLog | None:
        """Close the open crawl log, and commit; return it, or None where no line is in it.

        Raises what `commit` raises; the lines are then in the open log or in the closed one.
        """
        self.commit()
        if self._log.state.size_bytes == 0:
            return None
        closed = self._log.turn(now_ms)
        self.database.run(
            "INSERT INTO closed_logs (serial, since_ms, until_ms, size_bytes) VALUES (?,?,?,?)",
            (closed.serial, closed.since_ms, closed.until_ms, closed.size_bytes),
        )
        self.commit()
        return closed

    def closed_logs(self) -> list[ClosedLog]:
        """Return the logs that are closed and not forgotten, oldest first."""
        rows = self.database.ask_committed(
            "SELECT serial, since_ms, until_ms, size_bytes FROM closed_logs ORDER BY serial"
        )
        return [
            ClosedLog(serial, self._log.path(serial), since_ms, until_ms, size_bytes)
            for serial, since_ms, until_ms, size_bytes in (map(_whole, row) for row in rows)
        ]

    def forget_log(self, log: ClosedLog) -> None:
        """Forget a log that another part keeps from now on; durable with the next commit."""
        if self.database.run("DELETE FROM closed_logs WHERE serial = ?", (log.serial,)):
            self._to_delete.append(log.path)

    def seal_segment(self) -> None:
        """Commit, and seal the open segment, as before a transfer or at the end of a crawl."""
        self.commit()
        self._segments.seal()
        self._store()

    def close(self) -> None:
        """Commit and let go.

        Raises what `commit` raises; the files are let go of nevertheless.
        """
        try:
            self.commit()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close without a commit, as after a disk failure: the last commit counts."""
        self._threads.shutdown(cancel_futures=True)
        self._syncing.shutdown()
        self._seen.close()
        self.database.close()
        self._log.close()
        self._segments.close()
        self._commit_mark.close()

    @property
    def open_log_bytes(self) -> int:
        """Return the size of the open crawl log; 0: no line is in it."""
        return self._log.state.size_bytes

    def _sync(self) -> None:
        """Sync the append-only files, all at a time: one wait for the disk, not one for each."""
        first, *others = (*self._segments.syncs(), self._log.sync)
        waited = [self._syncing.submit(other) for other in others]
        try:
            first()
        finally:
            wait(waited)
        for one in waited:
            one.result()

    def _discard(self, job: int) -> None:
        """Drop the queue and the seen-set of an unfinished job."""
        state = self._jobs.live(job)
        if state is not None:
            self._queues.discard(job, state)
            self._seen.discard(state.met)

    def _store(self) -> None:
        """Run the transaction, where anything changed."""
        now = self._numbers()
        if now == self._last and not (
            self.database.changed or self._queues.changed or self._seen.changed
        ):
            return
        self._queues.flush()
        self._seen.flush()
        self._segments.enter()
        self.database.run(_UPDATE, now)
        self.database.commit()
        self._commit_mark.write(Committed(self._next_job, self._segments.state, self._log.state))
        self._last = now

    def _numbers(self) -> tuple[int | str, ...]:
        segments, log = self._segments.state, self._log.state
        return (
            *(self._next_job, segments.next_serial),
            *(segments.name, segments.size_bytes, segments.links_bytes),
            *(log.serial, log.size_bytes, log.since_ms),
        )


_UPDATE: Final = (
    "UPDATE state SET next_job = ?, next_serial = ?, segment = ?, "
    "segment_bytes = ?, links_bytes = ?, log = ?, log_bytes = ?, log_since_ms = ?"
)


def _first_numbers(database: Database, now_ms: int) -> _Numbers:
    numbers = _Numbers(secrets.token_bytes(16), 1, SegmentState(), LogState(1, 0, now_ms))
    database.run(
        "INSERT INTO state (one, secret, next_job, next_serial, segment, segment_bytes, "
        "links_bytes, log, log_bytes, log_since_ms) VALUES (1, ?, 1, 0, '', 0, 0, 1, 0, ?)",
        (numbers.secret, now_ms),
    )
    return numbers


def _catch_up(database: Database, logs: Path, numbers: _Numbers, mark: CommitMark) -> bool:
    """Return whether the ledger is older than its files; take over all later commits.

    New numbers are above all that were given. Logs that are here were not handed on yet: they are
    closed, and the open one is continued from its last commit.
    """
    later = mark.last
    mine = Committed(numbers.next_job, numbers.segments, numbers.log)
    if later is None or not mine.is_behind(later):
        return False
    mark.times_behind += 1
    numbers.next_job = max(numbers.next_job, later.next_job)
    serial = max(numbers.segments.next_serial, later.segments.next_serial)
    numbers.segments = replace(numbers.segments, next_serial=serial)
    before = numbers.log
    there = {n: path for n, path in logs_since(logs, before.serial).items() if n < later.log.serial}
    known = {_whole(serial) for (serial,) in database.ask("SELECT serial FROM closed_logs")}
    for number in known - {n for n in known if (logs / f"crawl-{n:08d}.log").exists()}:
        database.run("DELETE FROM closed_logs WHERE serial = ?", (number,))  # it was handed on
    for number, path in there.items():
        if number not in known:
            database.run(
                "INSERT INTO closed_logs (serial, since_ms, until_ms, size_bytes) VALUES (?,?,?,?)",
                (number, before.since_ms, later.log.since_ms, path.stat().st_size),
            )
    if later.log.serial > before.serial or later.log.size_bytes > before.size_bytes:
        open_one = logs / f"crawl-{later.log.serial:08d}.log"
        if open_one.exists() and open_one.stat().st_size >= later.log.size_bytes:
            numbers.log = later.log
        else:  # it was closed and handed on since
            numbers.log = LogState(later.log.serial + 1, 0, later.log.since_ms)
    return True


def _read_numbers(database: Database) -> _Numbers | None:
    rows = database.ask(
        "SELECT secret, segment, next_job, next_serial, segment_bytes, links_bytes, "
        "log, log_bytes, log_since_ms FROM state"
    )
    if not rows:
        return None
    secret, segment, *rest = rows[0]
    assert isinstance(secret, bytes)
    next_job, serial, segment_bytes, links_bytes, log, log_bytes, since_ms = map(_whole, rest)
    return _Numbers(
        secret,
        next_job,
        SegmentState(str(segment), segment_bytes, links_bytes, serial),
        LogState(log, log_bytes, since_ms),
    )


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value
