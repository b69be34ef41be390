"""The ledger on SQLite: opens its parts, each of which carries out some of its methods.

`open` cuts the files that grow back to the lengths of the last commit. What is cut off goes to the
trash; where the ledger is older than its files, as after a restore, later commits are kept: whole
captures are sealed, and logs that were not handed on are closed (`recovery.py`).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final, Self

from agent.adapters.ledger.backoff_rows import BackoffRows
from agent.adapters.ledger.commit import Commits, LedgerFiles
from agent.adapters.ledger.crawl_log import ClosedLog, ClosedLogs, CrawlLog, discard_logs
from agent.adapters.ledger.database import DATABASE, SEEN, Database
from agent.adapters.ledger.jobs.job_orders import JobOrders
from agent.adapters.ledger.jobs.jobs import IN_MEMORY, Jobs
from agent.adapters.ledger.jobs.queues import JOURNAL_ENTRIES, Queues
from agent.adapters.ledger.ledger_state import LedgerState, first_state, read_state
from agent.adapters.ledger.open_index import OpenIndex
from agent.adapters.ledger.recovery import CommitMark, catch_up
from agent.adapters.ledger.seen_sets.runs import RUN_KEYS
from agent.adapters.ledger.seen_sets.seen_set import SeenSet, Submit
from agent.adapters.ledger.segments import SegmentOptions, Segments
from agent.adapters.ledger.trash import Trash
from agent.pipeline.ports import Clock
from shared.archive.encode import SegmentInfo
from shared.archive.segment import OpenFile
from shared.archive.writer import DEFAULT_MAX_BYTES
from shared.frozen import frozen

__all__ = ["LedgerOptions", "SqliteLedger"]

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
    """Fulfils `agent.pipeline.ledger.Ledger` in one folder, for one process at a time.

    That port says what each method does; most of them are methods of one part.
    """

    def __init__(
        self,
        files: LedgerFiles,
        secret: bytes,
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
        orders = JobOrders(database)
        self._jobs = jobs = Jobs(database, state.next_job, options.jobs_in_memory)
        self._queues = queues = Queues(database, jobs, orders.queued(), options.journal_entries)
        backoffs = BackoffRows(database)
        self._threads = ThreadPoolExecutor(1, "seen-runs")
        self._seen = SeenSet(
            folder / SEEN,
            database,
            secret,
            orders.live_numbers,
            submit or self._threads.submit,
            options.run_keys,
        )
        self._seen.discard(max(0, self._seen.keys - orders.entered()))
        self._commits = Commits(files, jobs, queues, self._seen)
        self._closed_logs = ClosedLogs(database, folder / LOGS)
        files.log.remove_unknown(self._closed_logs.serials(), Trash(folder))

        # The methods of the port that one part carries out by itself.
        self.each_job = jobs.rows
        self.job = jobs.get
        self.jobs_at = jobs.at
        self.open_jobs = jobs.open_jobs
        self.new_job_number = jobs.new_number
        self.open_job = jobs.open
        self.place_job = jobs.place
        self.may_reopen = jobs.may_reopen
        self.count = jobs.count
        self.orders = orders.all
        self.units = orders.units
        self.shares_hosts = orders.share_hosts
        self.unplaced_jobs = orders.unplaced
        self.push = queues.push
        self.take = queues.take
        self.queued = queues.queued
        self.waiting = queues.waiting
        self.remove = queues.remove
        self.keep = queues.keep
        self.retry = queues.retry
        self.rests = backoffs.all
        self.keep_rest = backoffs.keep
        self.forget_rest = backoffs.forget
        self.append_captures = files.segments.append
        self.append_log = files.log.append
        self.count_probe = files.log.count_probe
        self.commit = self._commits.commit
        # Beyond the port: the logs that are closed; commit, and seal the open segment.
        self.closed_logs = self._closed_logs.committed
        self.seal_segment = self._commits.seal

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
            secret, state = known or first_state(database, clock.epoch_ms())
            mark = CommitMark(folder, secret)
            stack.callback(mark.close)
            later = None if known is None else catch_up(database, folder / LOGS, state, mark)
            state = later or state
            segments = Segments(
                folder / SEGMENTS,
                state.segments,
                options.segments,
                OpenIndex(database),
                trash,
                keep_strays=known is None or later is not None,
                open_file=open_file,
            )
            stack.callback(segments.close)
            if known is None:
                discard_logs(folder / LOGS, trash)
            log = CrawlLog(folder / LOGS, state.log, open_file, trash)
            stack.callback(log.close)
            ledger = cls(LedgerFiles(database, segments, log, mark), secret, state, options, submit)
            ledger.commit()
            stack.pop_all()
        return ledger

    def finish_job(self, job: int, *, may_reopen: bool = False, keeps_queue: bool = False) -> None:
        """Remember that a job is done: its queue and seen-set are dropped, its row stays.

        may_reopen: the seen-set stays until the job is dropped. keeps_queue: both do.
        """
        may_reopen = may_reopen and not self._queues.queued(job)
        if keeps_queue:
            self._queues.keep_all(job)
        elif may_reopen:
            self._queues.empty(job)
        else:
            self._discard(job)
        self._jobs.finish(job, may_reopen=may_reopen, keeps_queue=keeps_queue)

    def reopen_job(self, job: int) -> bool:
        """Reopen a job that is done, to take URLs; return whether its seen-set was kept."""
        reopened = self._jobs.reopen(job)
        if reopened:
            self._queues.resume(job)
        return reopened

    def drop_job(self, job: int) -> None:
        """Forget a job that left the list: row, queue and seen-set."""
        self._discard(job)
        self._jobs.drop(job)

    def add_new(self, job: int, urls: Sequence[str]) -> list[bool]:
        """Enter URLs into a job's exact seen-set; return for each whether it was new."""
        if self._jobs.live(job) is None:
            return [False] * len(urls)
        return self._seen.add(job, urls)

    def has_met(self, job: int, url: str) -> bool:
        """Return whether a URL is in a job's seen-set, also after the end of the job."""
        return self._seen.has(job, url)

    @property
    def known(self) -> int:
        """Return how many URLs are known, those of jobs that are done too until they are freed."""
        return self._seen.keys

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

    def forget_log(self, log: ClosedLog) -> None:
        """Forget a log that another part keeps from now on; durable with the next commit."""
        if self._closed_logs.forget(log.serial):
            self._commits.to_delete.append(log.path)

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
        """Drop the queue and the seen-set of a job that has them."""
        state = self._jobs.state(job)
        if state is not None and (state.may_reopen or not state.finished):
            self._queues.discard(job, state)
            self._seen.discard(state.entered)
