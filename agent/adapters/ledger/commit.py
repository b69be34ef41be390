"""The commit: syncs the files that grow, then makes all changes durable in one transaction.

Invariant: a transaction names lengths of files that are on the disk. It is the only moment at
which anything becomes true; docs/adr/0004 says why.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from agent.adapters.ledger.crawl_log import CrawlLog
from agent.adapters.ledger.database import Database
from agent.adapters.ledger.jobs.jobs import Jobs
from agent.adapters.ledger.jobs.queues import Queues
from agent.adapters.ledger.ledger_state import LedgerState, save_state
from agent.adapters.ledger.recovery import CommitMark
from agent.adapters.ledger.seen_sets.seen_set import SeenSet
from agent.adapters.ledger.segments import Segments

__all__ = ["Commits", "LedgerFiles"]


@dataclass(slots=True)
class LedgerFiles:
    """The files of a ledger, open."""

    database: Database
    segments: Segments
    log: CrawlLog
    mark: CommitMark

    def close(self) -> None:
        """Close all; what no commit names is lost."""
        self.database.close()
        self.log.close()
        self.segments.close()
        self.mark.close()


class Commits:
    """Commits the files and everything that is kept in the database."""

    def __init__(self, files: LedgerFiles, jobs: Jobs, queues: Queues, seen: SeenSet) -> None:
        self._files = files
        self._jobs = jobs
        self._queues = queues
        self._seen = seen
        self._last: LedgerState | None = None
        self._threads = ThreadPoolExecutor(2, "sync")
        self.to_delete: list[Path] = []
        """Files that are deleted after the next transaction."""

    def commit(self) -> None:
        """Commit, and seal the segment where it is full.

        Raises DiskFullError: everything is kept, call again when there is room; HomeError and
        SegmentBrokenError: the disk failed, the process must end and start again.
        """
        self._sync()
        self._store()
        for paths in (self.to_delete, self._seen.to_delete):
            while paths:
                paths.pop().unlink(missing_ok=True)
        if self._files.segments.seal_if_full():
            self._store()  # a sealed segment may be taken away at once

    def seal(self) -> None:
        """Commit, and seal the open segment."""
        self.commit()
        self._files.segments.seal()
        self._store()

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()

    def _sync(self) -> None:
        """Sync the append-only files, all at a time: one wait for the disk, not one for each."""
        first, *others = (*self._files.segments.syncs(), self._files.log.sync)
        pending = [self._threads.submit(other) for other in others]
        try:
            first()
        finally:
            wait(pending)
        for one in pending:
            one.result()

    def _store(self) -> None:
        files = self._files
        now = LedgerState(self._jobs.next_number, files.segments.state, files.log.state)
        if now == self._last and not (
            files.database.changed or self._queues.changed or self._seen.changed
        ):
            return
        self._queues.flush()
        self._seen.flush()
        files.segments.enter()
        save_state(files.database, now)
        files.database.commit()
        files.mark.write(now)
        self._last = now
