"""Port to the ledger, the durable state of the crawl, and its rows: queued URLs, jobs, rests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

from agent.pipeline.messages.jobs import Job
from agent.pipeline.messages.requests import FetchAnswer
from shared.archive.encode import EncodedCapture
from shared.frozen import frozen

__all__ = ["LEVELS", "LEVEL_BITS", "AddressBackoff", "JobRow", "Ledger", "OpenJob", "QueuedUrl"]

LEVELS: Final = 4
"""Queues that a job may have; the level is in a position's highest bits (`LEVEL_BITS`)."""

LEVEL_BITS: Final = 56


@frozen
class QueuedUrl:
    """A URL on disk, waiting for its turn. `position` orders the queue of its job and level.

    level: which of the job's queues; 0 is the first to be worked off. due_ms: when it may be tried
    again, by the wall clock; 0: at once. link_kind: how it was found, as `link_kinds` has it.
    """

    position: int
    url: str
    job: int
    depth: int
    redirects: int
    referer: str | None
    attempts: int = 0
    level: int = 0
    due_ms: int = 0
    chain: str = ""  # cookies of the redirects that led here; neither tab nor line break
    link_kind: int = 0


@frozen
class JobRow:
    """A job as the ledger remembers it over restarts."""

    job: Job
    host: str
    address: str  # "" until its host was placed
    pages: int  # dispatched, robots.txt not counted
    kept: int
    response_bytes: int
    finished: bool


@frozen
class AddressBackoff:
    """AddressBackoff of an address that is longer than usual, kept over restarts."""

    address: str
    host: str  # that was asked last
    reason: str
    strikes: int  # errors, less the successes since
    until_ms: int  # since 1970


@frozen
class OpenJob:
    """Unfinished job, with the facts that decide on its turn."""

    number: int
    address: str  # "" until its host was placed
    queued: int
    interval_ms: int


class Ledger(Protocol):
    """The durable state of the crawl: jobs, queues, seen-sets, segment and log, in one commit.

    All methods take effect at once for every caller; `commit` makes everything since the last
    one durable together, with what the segment and the log hold. After a crash the state is that
    of the last commit: append-only files are cut back to it.

    A job that is not there (never opened, or dropped) takes nothing: what is asked to change in it
    changes nothing, and `add_new` finds nothing new. A finished job takes no URLs either.
    """

    # jobs
    def each_job(self) -> Iterator[JobRow]:
        """Yield the jobs of the list in force, by number, with few in memory at a time."""

    def orders(self) -> Iterator[list[tuple[Job, bool]]]:
        """Yield of each of them the order, and whether it is finished, by number, some at a time.

        Each list is of so many as a moment allows to look through, and what it says is of that
        moment. Jobs that are opened behind the first list may be among them or not.
        """

    def units(self) -> Iterator[tuple[int, str, bool]]:
        """Yield of each of them its number, its unit, and whether it is finished."""

    def shares_hosts(self) -> bool:
        """Return whether any of them is a piece of a split host."""

    def open_jobs(self, after: int = 0) -> Iterator[OpenJob]:
        """Yield those that are not finished, by number, with few of them in memory at a time.

        after: those with greater numbers only. What changes meanwhile is seen or not.
        """

    def unplaced_jobs(self) -> Iterator[list[int]]:
        """Yield the numbers of those that are neither finished nor placed, in order.

        Each list is of so many jobs as a moment allows to look through, and may be empty. What
        changes meanwhile is seen or not.
        """

    def jobs_at(self, address: str) -> list[JobRow]:
        """Return those that are not finished and were placed at an address, by number."""

    def job(self, number: int) -> JobRow | None:
        """Return one of them, or None."""

    def new_job_number(self) -> int:
        """Return a number no job of this installation had before."""

    def open_job(self, job: Job) -> None:
        """Remember a job; of a known number the order is replaced, all else stays."""

    def place_job(self, job: int, host: str, address: str) -> None:
        """Remember where a job's host answers."""

    def count(self, job: int, *, pages: int, kept: int, response_bytes: int) -> None:
        """Add to a job's counters."""

    def finish_job(self, job: int, *, may_reopen: bool = False, keeps_queue: bool = False) -> None:
        """Remember that a job is done: its queue and seen-set are dropped, its row stays.

        may_reopen: the seen-set stays too, so that more pages of the unit can be fetched. The queue
        must be empty then. keeps_queue: both stay; the URLs wait in no count.
        """

    def may_reopen(self, job: int) -> bool:
        """Return whether a job that is done can take URLs again."""

    def reopen_job(self, job: int) -> bool:
        """Reopen a job that is done, to take URLs; return whether its seen-set was kept."""

    def drop_job(self, job: int) -> None:
        """Forget a job that left the list: row, queue and seen-set."""

    # dedup
    def add_new(self, job: int, urls: Sequence[str]) -> list[bool]:
        """Enter URLs into a job's exact seen-set; return for each whether it was new."""

    def has_met(self, job: int, url: str) -> bool:
        """Return whether a URL is in a job's seen-set, also after the end of the job."""

    # frontier
    def push(self, items: Iterable[QueuedUrl]) -> None:
        """Append to the jobs' queues, which `add_new` opened; the ledger chooses the positions.

        Dedup does this in the same step as `add_new`, so that no crash parts the two.
        """

    def take(self, job: int, after: int, limit: int, level: int = 0) -> list[QueuedUrl]:
        """Return the next queued URLs of a job's level behind a position, without removing them.

        after: 0 for the first ones, of whatever level.
        """

    def queued(self, job: int) -> int:
        """Return how many URLs of a job wait or are under way; in constant time."""

    def waiting(self) -> int:
        """Return how many URLs of all jobs wait or are under way; in constant time."""

    def remove(self, job: int, position: int) -> None:
        """Forget a URL that is done or given up; one that is not there stays forgotten."""

    def keep(self, job: int, position: int) -> None:
        """Forget a URL whose page is kept, and count it."""

    def retry(self, job: int, position: int, attempts: int, due_ms: int = 0) -> None:
        """Put a URL behind the others of its level; attempts: so far, due_ms: not before."""

    # politeness
    def rests(self) -> list[AddressBackoff]:
        """Return the addresses that were left alone for longer, in any order."""

    def keep_rest(self, rest: AddressBackoff) -> None:
        """Remember a rest; it replaces the earlier one of its address."""

    def forget_rest(self, address: str) -> None:
        """Forget an address; one that is not there stays forgotten."""

    # store
    def append_captures(self, captures: Sequence[tuple[EncodedCapture, tuple[str, ...]]]) -> None:
        """Append captures to the open segment, and the links that leave their hosts beside it.

        Raises DiskFullError (shared.archive): nothing of them was written.
        """

    def append_log(self, requests: Sequence[FetchAnswer]) -> None:
        """Append requests, each one's turn told, to the open crawl log."""

    def count_probe(self, unit: str, round_number: int) -> None:
        """Append to the open crawl log that a unit's probe counts as part of its crawl.

        Raises DiskFullError: nothing was written.
        """

    def commit(self) -> None:
        """Sync the append-only files, then make all changes durable in one transaction."""
