"""The ledger on SQLite: opens its parts and passes each call to one of them.

`open` cuts the files that grow back to the lengths of the last commit. What is cut off goes to the
trash; where the ledger is older than its files, as after a restore, later commits are kept: whole
captures are sealed, and logs that were not handed on are closed (`recovery.py`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, Self

from agent.adapters.ledger.backoff_rows import BackoffRows
from agent.adapters.ledger.closed_logs import ClosedLogs
from agent.adapters.ledger.commit import Commits, LedgerFiles
from agent.adapters.ledger.commit_mark import CommitMark
from agent.adapters.ledger.crawl_log import ClosedLog, CrawlLog, discard_logs
from agent.adapters.ledger.database import SEEN, Database
from agent.adapters.ledger.jobs.job_orders import JobOrders
from agent.adapters.ledger.jobs.jobs import IN_MEMORY, Jobs
from agent.adapters.ledger.jobs.queues import JOURNAL_ENTRIES, Queues
from agent.adapters.ledger.ledger_state import LedgerState, first_state, read_state
from agent.adapters.ledger.open_index import OpenIndex
from agent.adapters.ledger.recovery import catch_up
from agent.adapters.ledger.seen_sets.runs import RUN_KEYS
from agent.adapters.ledger.seen_sets.seen_set import SeenSet, Submit
from agent.adapters.ledger.segments import SegmentOptions, Segments
from agent.adapters.ledger.trash import Trash
from agent.pipeline.ledger import JobRow, OpenJob, QueuedUrl, Rest
from agent.pipeline.messages.jobs import Job
from agent.pipeline.messages.requests import FetchAnswer
from agent.pipeline.ports import Clock
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

    @property
    def segments(self) -> SegmentOptions:
        """Return those of the segments."""
        return SegmentOptions(self.agent, self.info, self.prefix, self.max_segment_bytes)


class SqliteLedger:
    """Fulfils `agent.pipeline.ledger.Ledger` in one folder, for one process at a time."""

    def __init__(
        self,
        files: LedgerFiles,
        state: LedgerState,
        options: LedgerOptions,
        submit: Submit | None,
    ) -> None:
        """Use `open`."""
        database = files.database
        folder = database.path.parent
        self.database = database
        self.mark = files.mark.name
        """The id of this ledger in its reports; a restored older copy gets another one."""
        self._files = files
        self._orders = JobOrders(database)
        self._jobs = Jobs(database, state.next_job, options.jobs_in_memory)
        queued = self._orders.queued()
        self._queues = Queues(database, self._jobs, queued, options.journal_entries)
        self._backoffs = BackoffRows(database)
        self._threads = ThreadPoolExecutor(1, "seen-runs")
        self._seen = SeenSet(
            folder / SEEN,
            database,
            state.secret,
            self._orders.live_numbers,
            submit or self._threads.submit,
            options.run_keys,
        )
        self._seen.discard(max(0, self._seen.keys - self._orders.entered()))
        self._commits = Commits(files, self._jobs, self._queues, self._seen)
        self._closed_logs = ClosedLogs(database, folder / LOGS)
        files.log.remove_unknown(self._closed_logs.serials(), Trash(folder))

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
        trash = Trash(folder)
        with ExitStack() as stack:
            database = stack.enter_context(closing(Database(folder / DATABASE)))
            known = read_state(database)  # none until the first commit below
            state = known or first_state(database, clock.epoch_ms())
            mark = CommitMark(folder, state.secret)
            stack.callback(mark.close)
            is_older = known is not None and catch_up(database, folder / LOGS, state, mark)
            segments = Segments(
                folder / SEGMENTS,
                state.segments,
                options.segments,
                OpenIndex(database),
                trash,
                keep_strays=known is None or is_older,
                open_file=open_file,
            )
            stack.callback(segments.close)
            if known is None:
                discard_logs(folder / LOGS, trash)
            log = CrawlLog(folder / LOGS, state.log, open_file, trash)
            stack.callback(log.close)
            ledger = cls(LedgerFiles(database, segments, log, mark), state, options, submit)
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
        return self._orders.all()

    def shares_hosts(self) -> bool:
        """Return whether any of them is a piece of a split host."""
        return self._orders.share_hosts()

    def units(self) -> Iterator[tuple[int, str, bool]]:
        """Yield of each of them its number, its unit, and whether it is finished."""
        return self._orders.units()

    def job(self, number: int) -> JobRow | None:
        """Return one of them, or None."""
        return self._jobs.get(number)

    def open_jobs(self, after: int = 0) -> Iterator[OpenJob]:
        """Yield those that are not finished, by number, with few of them in memory at a time."""
        return self._jobs.open_jobs(after)

    def unplaced_jobs(self) -> Iterator[list[int]]:
        """Yield the numbers of those that are neither finished nor placed, a few each time."""
        return self._orders.unplaced()

    def jobs_at(self, address: str) -> list[JobRow]:
        """Return those that are not finished and were placed at an address, by number."""
        return self._jobs.at(address)

    def new_job_number(self) -> int:
        """Return a number no job of this installation had before."""
        return self._jobs.new_number()

    def open_job(self, job: Job) -> None:
        """Remember a job; of a known number the order is replaced, all else stays."""
        self._jobs.open(job)

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
        return self._backoffs.all()

    def keep_rest(self, rest: Rest) -> None:
        """Remember a rest; it replaces the earlier one of its address."""
        self._backoffs.keep(rest)

    def forget_rest(self, address: str) -> None:
        """Forget an address; one that is not there stays forgotten."""
        self._backoffs.forget(address)

    @property
    def known(self) -> int:
        """Return how many URLs are known, those of jobs that are done too until they are freed."""
        return self._seen.keys

    # store

    def append_captures(self, captures: Sequence[tuple[EncodedCapture, tuple[str, ...]]]) -> None:
        """Append captures to the open segment, and the links that leave their hosts beside it.

        Raises DiskFullError: nothing of them was written.
        """
        self._files.segments.append(captures)

    def append_log(self, requests: Sequence[FetchAnswer]) -> None:
        """Append requests to the open crawl log; raises DiskFullError: none of them is there."""
        self._files.log.append(requests)

    def commit(self) -> None:
        """Sync the append-only files, then make all changes durable in one transaction.

        Raises DiskFullError: everything is kept, call again when there is room; HomeError and
        SegmentBrokenError: the disk failed, the process must end and start again.
        """
        self._commits.commit()

    # beyond the port

    def close_log(self, now_ms: int) -> ClosedLog | None:
        """Close the open crawl log, and commit; return it, or None where no line is in it.

        Raises what `commit` raises; the lines are then in the open log or in the closed one.
        """
        self.commit()
        if self._files.log.state.size_bytes == 0:
            return None
        closed = self._files.log.rotate(now_ms)
        self._closed_logs.add(closed.serial, closed.since_ms, closed.until_ms, closed.size_bytes)
        self.commit()
        return closed

    def closed_logs(self) -> list[ClosedLog]:
        """Return the logs that are closed and not forgotten, oldest first."""
        return self._closed_logs.committed()

    def forget_log(self, log: ClosedLog) -> None:
        """Forget a log that another part keeps from now on; durable with the next commit."""
        if self._closed_logs.forget(log.serial):
            self._commits.to_delete.append(log.path)

    def seal_segment(self) -> None:
        """Commit, and seal the open segment, as before a transfer or at the end of a crawl."""
        self._commits.seal()

    def close(self) -> None:
        """Commit and close the files.

        Raises what `commit` raises; the files are closed nevertheless.
        """
        try:
            self.commit()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close without a commit, as after a disk failure: the last commit counts."""
        self._threads.shutdown(cancel_futures=True)
        self._commits.close()
        self._seen.close()
        self._files.close()

    @property
    def open_log_bytes(self) -> int:
        """Return the size of the open crawl log; 0: no line is in it."""
        return self._files.log.state.size_bytes

    def _discard(self, job: int) -> None:
        """Drop the queue and the seen-set of an unfinished job."""
        state = self._jobs.live(job)
        if state is not None:
            self._queues.discard(job, state)
            self._seen.discard(state.entered)
