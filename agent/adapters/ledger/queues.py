"""The jobs' seen-sets and queues, on disk.

A URL is known by 64 bits of a keyed hash: of ten million URLs in one job two collide with a chance
of 3 in a million, and nobody outside can choose two that do. What a job leaves behind when it is
done is deleted in slices, so that a unit of a hundred thousand pages does not hold up the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

from agent.adapters.ledger.database import Database, Value, numbers
from agent.adapters.ledger.jobs import Jobs
from agent.pipeline.ports import QueuedUrl

__all__ = ["Queues"]

SLICE_ROWS: Final = 2000
"""Deleted of a job that is done, at each commit."""

_INSERT: Final = "INSERT INTO queue VALUES (?,?,?,?,?,?,?)"


class Queues:
    """What is known and what waits, of all jobs."""

    def __init__(
        self, database: Database, jobs: Jobs, *, secret: bytes, next_position: int
    ) -> None:
        self._database = database
        self._jobs = jobs
        self._secret = secret
        self.next_position = next_position
        self._garbage = set(numbers(database.ask("SELECT job FROM garbage")))

    @property
    def has_garbage(self) -> bool:
        """Tell whether rows of jobs that are done wait to be deleted."""
        return bool(self._garbage)

    def add_new(self, job: int, urls: Sequence[str]) -> list[bool]:
        """Enter URLs into a job's seen-set; return for each whether it was new."""
        if not self._jobs.takes_urls(job):
            return [False] * len(urls)
        keys = [self._key(url) for url in urls]
        # Two statements for a batch; one for each URL would cost five times as much.
        query = "SELECT key FROM seen WHERE job = ? AND key IN (SELECT value FROM json_each(?))"
        known = set(numbers(self._database.ask(query, (job, str(keys)))))
        new = []
        for key in keys:
            new.append(key not in known)
            known.add(key)
        self._database.run_many(
            "INSERT INTO seen VALUES (?,?)",
            [(job, key) for key, is_new in zip(keys, new, strict=True) if is_new],
        )
        return new

    def push(self, items: Iterable[QueuedUrl]) -> None:
        """Append to the queues of jobs that take URLs."""
        rows: list[Sequence[Value]] = []
        for item in items:
            if self._jobs.takes_urls(item.job):
                rows.append(self._row(item, item.attempts))
                self._jobs.add_queued(item.job, 1)
        self._database.run_many(_INSERT, rows)

    def take(self, job: int, after: int, limit: int) -> list[QueuedUrl]:
        """Return the next URLs of a job behind a position."""
        if not self._jobs.takes_urls(job):
            return []
        rows = self._database.ask(
            "SELECT position, url, job, depth, redirects, referer, attempts FROM queue "
            "WHERE job = ? AND position > ? ORDER BY position LIMIT ?",
            (job, after, limit),
        )
        return [QueuedUrl(*row) for row in rows]  # type: ignore[arg-type]  # as the schema says

    def remove(self, job: int, position: int) -> None:
        """Forget a URL."""
        if self._jobs.takes_urls(job):
            self._jobs.add_queued(job, -self._delete(job, position))

    def retry(self, job: int, position: int, attempts: int) -> None:
        """Put a URL behind the others of its queue."""
        found = self.take(job, position - 1, 1)
        if found and found[0].position == position:
            self._delete(job, position)
            self._database.run(_INSERT, self._row(found[0], attempts))

    def discard(self, job: int) -> None:
        """Let a job's seen-set and queue go, from now on out of sight."""
        self._database.run("INSERT OR IGNORE INTO garbage VALUES (?)", (job,))
        self._garbage.add(job)

    def sweep(self) -> None:
        """Delete a slice of what was discarded."""
        if not self._garbage:
            return
        job = next(iter(self._garbage))
        deleted = 0
        for table, column in (("queue", "position"), ("seen", "key")):
            deleted += self._database.run(
                f"DELETE FROM {table} WHERE job = ?1 AND {column} IN "  # noqa: S608  # our names
                f"(SELECT {column} FROM {table} WHERE job = ?1 LIMIT ?2)",
                (job, SLICE_ROWS - deleted),
            )
        if deleted < SLICE_ROWS:
            self._database.run("DELETE FROM garbage WHERE job = ?", (job,))
            self._garbage.discard(job)

    def _delete(self, job: int, position: int) -> int:
        return self._database.run(
            "DELETE FROM queue WHERE job = ? AND position = ?", (job, position)
        )

    def _row(self, item: QueuedUrl, attempts: int) -> tuple[Value, ...]:
        position = self.next_position
        self.next_position += 1
        return (
            *(item.job, position, item.url, item.depth, item.redirects, item.referer),
            attempts,
        )

    def _key(self, url: str) -> int:
        digest = blake2b(url.encode(), digest_size=8, key=self._secret).digest()
        return int.from_bytes(digest, "big", signed=True)
