"""Ports of the modules: their only access to network, disk and clock.

Nothing here waits. A fetch, a look-up or the work on a page is started, and its completion arrives
at a module's input as a message. Durable stores take changes at once and make them durable
together, at the next `commit` of the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

from agent.pipeline.messages import (
    Due,
    Earlier,
    Fetched,
    Job,
    Links,
    Outcome,
    Outside,
    Processed,
    RulesDue,
    UnitClosed,
    UnitFinished,
)
from shared.archive.capture import Capture
from shared.archive.encode import EncodedCapture
from shared.frozen import frozen
from shared.host_failures import HostFailure

__all__ = [
    "LEVELS",
    "LEVEL_BITS",
    "Clock",
    "EarlierCaptures",
    "FetchAnswer",
    "FetchRequest",
    "Fetcher",
    "JobRow",
    "Ledger",
    "LookUp",
    "OpenJob",
    "PageWork",
    "PageWorker",
    "QueuedUrl",
    "Reports",
    "Resolver",
    "Rest",
]

LEVELS: Final = 4
"""Queues that a job may have; the level is in a position's highest bits (`LEVEL_BITS`)."""

LEVEL_BITS: Final = 56


class Clock(Protocol):
    """Time, for code that must also run in fake time."""

    def monotonic_s(self) -> float:
        """Return seconds that never jump; stands still while the machine sleeps."""
        ...

    def boottime_s(self) -> float:
        """Return seconds since boot, sleep included (CLOCK_BOOTTIME): permits count on it."""
        ...

    def epoch_ms(self) -> int:
        """Return the wall clock, milliseconds since 1970."""
        ...


@frozen
class FetchRequest:
    """One GET. The address was checked and is pinned; "" where a proxy resolves.

    due: the owner of the turn; None: no turn, a request by hand.
    """

    url: str
    address: str
    max_body_bytes: int
    rules: bool = False
    earlier: Earlier | None = None  # ask by its validators, where it has any
    due: Due | RulesDue | None = None
    cookies: str = ""  # the Cookie field, of the redirects that led here


@frozen
class FetchAnswer:
    """Result of a FetchRequest; `capture` is None where no header came.

    It is also the message that gives the token of its turn's address back, and one line of the
    crawl log. elapsed_ms: without the pauses that limits of our own made.
    """

    request: FetchRequest
    outcome: Outcome
    capture: Capture | None
    status: int
    request_bytes: int
    response_bytes: int
    elapsed_ms: float
    started_epoch_ms: int
    ended_s: float
    kept_alive: bool
    location: str | None = None  # of a redirect, as sent
    retry_after_s: float | None = None
    detail: str = ""
    connect_ms: float = 0.0  # from the start until the connection stood, TLS too; 0: was open
    first_byte_ms: float = 0.0  # from the start until the answer began

    @property
    def due(self) -> Due | RulesDue:
        """Return whose turn it was; of a request that was a turn."""
        due = self.request.due
        assert due is not None
        return due

    @property
    def address(self) -> str:
        """Return the address whose token it gives back."""
        return self.due.address

    @property
    def is_free_retry(self) -> bool:
        """Return whether it says nothing about the host: `retry`, at the first attempt."""
        if self.outcome != "retry":
            return False
        due = self.request.due
        return due is None or due.attempt == 1

    @property
    def was_sent(self) -> bool:
        """Return whether a request left this machine."""
        if self.outcome in ("no_permit", "forbidden_address"):
            return False
        return self.outcome != "stopped" or self.request_bytes > 0

    @property
    def header(self) -> bytes:
        """Return the header of the answer; empty where none came."""
        return b"" if self.capture is None else self.capture.response_header


class Fetcher(Protocol):
    """Sends requests; refuses each without a valid permit (outcome `no_permit`)."""

    @property
    def crowded(self) -> bool:
        """Return whether bodies fill so much memory that no more requests should begin."""
        ...

    def start(self, request: FetchRequest, done: Callable[[FetchAnswer], None]) -> None:
        """Begin one request; `done` is called once, later, on the loop's thread."""
        ...


@frozen
class LookUp:
    """The answer to a name: addresses that may be crawled, best first, or why there is none."""

    host: str
    addresses: tuple[str, ...]
    ttl_s: float
    reason: str = ""
    temporary: bool = False  # the servers did not answer, or said "later": worth another try
    took_ms: float | None = None  # None: it says nothing of the servers, as behind a proxy
    failure: HostFailure = HostFailure.NO_ADDRESS  # where there is no address


class Resolver(Protocol):
    """Names to addresses; forbidden ranges are refused here."""

    def start(self, host: str, done: Callable[[LookUp], None]) -> None:
        """Begin to look a host key's name up; `done` is called once, perhaps at once."""
        ...


@frozen
class PageWork:
    """Result of a fetched page: its links, each once, and its record, compressed."""

    processed: Processed
    links: Links  # redirects 0, depth that of the page plus one


class PageWorker(Protocol):
    """Decodes, parses, and compresses pages; may live in other processes.

    Pages are done in any order. What stops a worker costs a page its links, never its record.
    """

    @property
    def crowded(self) -> bool:
        """Return whether so many bytes of pages wait that nothing more should be fetched."""
        ...

    def start(self, page: Fetched, done: Callable[[PageWork], None]) -> None:
        """Begin the work on a page; `done` is called once, perhaps at once."""
        ...

    def close(self) -> None:
        """Close; `done` is not called after that."""
        ...


class EarlierCaptures(Protocol):
    """The last whole capture of each URL, so that a later one may say: it is still the same.

    It may forget, and then a page is fetched and stored whole. It never knows a capture that no
    commit has made durable.
    """

    def look_up(self, host: str, url: str) -> Earlier | None:
        """Return what a URL's last whole capture was, where it is known and not too old."""
        ...

    def remember(self, host: str, url: str, earlier: Earlier) -> None:
        """Take a capture that was appended; it is known some time after the next `committed`."""
        ...

    def committed(self) -> None:
        """Take note that all that was appended is durable."""
        ...


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
class Rest:
    """An address that is left alone for longer than usual, over restarts too."""

    address: str
    host: str  # that was asked last
    reason: str
    strikes: int  # errors, less the successes since
    until_ms: int  # since 1970


@frozen
class OpenJob:
    """Of a job that is not finished, what decides on its turn."""

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
    def jobs(self) -> list[JobRow]:
        """Return the jobs of the list in force, by number."""
        ...

    def each_job(self) -> Iterator[JobRow]:
        """Yield the same, with few of them in memory at a time."""
        ...

    def orders(self) -> Iterator[list[tuple[Job, bool]]]:
        """Yield of each of them the order, and whether it is finished, by number, some at a time.

        Each list is of so many as a moment allows to look through, and what it says is of that
        moment. Jobs that are opened behind the first list may be among them or not.
        """
        ...

    def units(self) -> Iterator[tuple[int, str, bool]]:
        """Yield of each of them its number, its unit, and whether it is finished."""
        ...

    def shares_hosts(self) -> bool:
        """Return whether any of them is a piece of a split host."""
        ...

    def open_jobs(self, after: int = 0) -> Iterator[OpenJob]:
        """Yield those that are not finished, by number, with few of them in memory at a time.

        after: those with greater numbers only. What changes meanwhile is seen or not.
        """
        ...

    def unplaced_jobs(self) -> Iterator[list[int]]:
        """Yield the numbers of those that are neither finished nor placed, in order.

        Each list is of so many jobs as a moment allows to look through, and may be empty. What
        changes meanwhile is seen or not.
        """
        ...

    def jobs_at(self, address: str) -> list[JobRow]:
        """Return those that are not finished and were placed at an address, by number."""
        ...

    def job(self, number: int) -> JobRow | None:
        """Return one of them, or None."""
        ...

    def new_job_number(self) -> int:
        """Return a number no job of this installation had before."""
        ...

    def open_job(self, job: Job) -> None:
        """Remember a job; of a known number the order is replaced, all else stays."""
        ...

    def place_job(self, job: int, host: str, address: str) -> None:
        """Remember where a job's host answers."""
        ...

    def count(self, job: int, *, pages: int, kept: int, response_bytes: int) -> None:
        """Add to a job's counters."""
        ...

    def finish_job(self, job: int) -> None:
        """Remember that a job is done: its queue and seen-set are dropped, its row stays."""
        ...

    def drop_job(self, job: int) -> None:
        """Forget a job that left the list: row, queue and seen-set."""
        ...

    # dedup
    def add_new(self, job: int, urls: Sequence[str]) -> list[bool]:
        """Enter URLs into a job's exact seen-set; return for each whether it was new."""
        ...

    # frontier
    def push(self, items: Iterable[QueuedUrl]) -> None:
        """Append to the jobs' queues, which `add_new` opened; the ledger chooses the positions.

        Dedup does this in the same step as `add_new`, so that no crash parts the two.
        """
        ...

    def take(self, job: int, after: int, limit: int, level: int = 0) -> list[QueuedUrl]:
        """Return the next queued URLs of a job's level behind a position, without removing them.

        after: 0 for the first ones, of whatever level.
        """
        ...

    def queued(self, job: int) -> int:
        """Return how many URLs of a job wait or are under way; in constant time."""
        ...

    def waiting(self) -> int:
        """Return how many URLs of all jobs wait or are under way; in constant time."""
        ...

    def remove(self, job: int, position: int) -> None:
        """Forget a URL that is done or given up; one that is not there stays forgotten."""
        ...

    def keep(self, job: int, position: int) -> None:
        """Forget a URL whose page is kept, and count it."""
        ...

    def retry(self, job: int, position: int, attempts: int, due_ms: int = 0) -> None:
        """Put a URL behind the others of its level; attempts: so far, due_ms: not before."""
        ...

    # politeness
    def rests(self) -> list[Rest]:
        """Return the addresses that were left alone for longer, in any order."""
        ...

    def keep_rest(self, rest: Rest) -> None:
        """Remember a rest; it replaces the earlier one of its address."""
        ...

    def forget_rest(self, address: str) -> None:
        """Forget an address; one that is not there stays forgotten."""
        ...

    # store
    def append_captures(self, captures: Sequence[tuple[EncodedCapture, tuple[str, ...]]]) -> None:
        """Append captures to the open segment, and the links that leave their hosts beside it.

        Raises DiskFullError (shared.archive): nothing of them was written.
        """
        ...

    def append_log(self, requests: Sequence[FetchAnswer]) -> None:
        """Append requests, each one's turn told, to the open crawl log."""
        ...

    def commit(self) -> None:
        """Sync the append-only files, then make all changes durable in one transaction."""
        ...


class Reports(Protocol):
    """Store of reports: the report module fills it, the link delivers from it."""

    def finished(self, unit: UnitFinished) -> None:
        """A unit is done; told to the manager until it answered."""
        ...

    def closed(self, unit: UnitClosed) -> None:
        """A unit that left the list is quiet."""
        ...

    def outside(self, urls: Sequence[Outside]) -> None:
        """URLs for M2; durable with the ledger's next commit."""
        ...

    def addresses(self, host: str, addresses: Sequence[str]) -> None:
        """Record where a host answers from here."""
        ...

    def requested(self, requests: Sequence[FetchAnswer]) -> None:
        """Requests that were sent, for the counters."""
        ...

    def kept(self, pages: Sequence[Processed]) -> None:
        """Pages that lie in a segment, for the counters."""
        ...
