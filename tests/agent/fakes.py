"""The world of the crawl in memory: ledger, clock, a scripted web, resolver, workers, reports.

Nothing happens by itself: a test says when a fetch, a look-up or a page's work is done, and in
which order. The ledger passes the suite in tests/contracts/ledger as the real one does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from agent.pipeline.handler import Handler, Output
from agent.pipeline.ledger import LEVEL_BITS, AddressBackoff, JobRow, OpenJob, QueuedUrl
from agent.pipeline.messages.hosts import LookUp
from agent.pipeline.messages.jobs import Job, UnitClosed, UnitFinished
from agent.pipeline.messages.pages import Fetched, Links, Outside, PageWork, Processed
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest, Outcome
from shared.archive.capture import Capture
from shared.archive.encode import EncodedCapture, encode_capture
from shared.archive.errors import DiskFullError
from shared.urls import host_of

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self, now_s: float = 1000.0) -> None:
        self.now_s = now_s
        self.asleep_s = 0.0  # of the machine; may be less than nothing: the wall clock was set back

    def monotonic_s(self) -> float:
        return self.now_s

    def boottime_s(self) -> float:
        return self.now_s + max(0.0, self.asleep_s)

    def epoch_ms(self) -> int:
        return 1_700_000_000_000 + int((self.now_s + self.asleep_s) * 1000)


@dataclass
class _State:
    rows: dict[int, JobRow] = field(default_factory=dict)
    seen: dict[int, set[str]] = field(default_factory=dict)
    queues: dict[int, dict[int, QueuedUrl]] = field(default_factory=dict)
    kept: dict[int, dict[int, QueuedUrl]] = field(default_factory=dict)  # queues of jobs done
    probed: list[tuple[str, int]] = field(default_factory=list)
    rests: dict[str, AddressBackoff] = field(default_factory=dict)
    next_position: int = 1
    next_job: int = 1
    captures: list[str] = field(default_factory=list)
    outward: list[str] = field(default_factory=list)
    log: list[FetchAnswer] = field(default_factory=list)

    def copy(self) -> _State:
        """Return the same with containers of its own; what lies in them never changes."""
        return replace(
            self,
            rows=dict(self.rows),
            seen={job: set(urls) for job, urls in self.seen.items()},
            queues={job: dict(urls) for job, urls in self.queues.items()},
            kept={job: dict(urls) for job, urls in self.kept.items()},
            probed=list(self.probed),
            rests=dict(self.rests),
            captures=list(self.captures),
            outward=list(self.outward),
            log=list(self.log),
        )


class FakeLedger:
    """A ledger whose disk is a copy of its state at the last commit."""

    def __init__(self, disk: _State | None = None) -> None:
        self._disk = disk or _State()
        self._now = self._disk.copy()
        self._changed = False  # since the last commit, perhaps
        self.commits = 0
        self.full = False  # the disk
        self.orders_at_a_time = 1000

    def after_crash(self) -> FakeLedger:
        """Return the ledger that a new process finds after kill -9."""
        return FakeLedger(self._disk.copy())

    @property
    def captures(self) -> list[str]:
        """URLs of the captures in the segment, as of now."""
        return self._now.captures

    @property
    def durable_captures(self) -> list[str]:
        """URLs of the captures in the segment, as of the last commit."""
        return self._disk.captures

    @property
    def probed(self) -> list[tuple[str, int]]:
        """Units and rounds whose probes count, as the log says."""
        return self._now.probed

    @property
    def log(self) -> list[FetchAnswer]:
        return self._now.log

    def jobs(self) -> list[JobRow]:
        return [self._now.rows[number] for number in sorted(self._now.rows)]

    def each_job(self) -> Iterator[JobRow]:
        return iter(self.jobs())

    def orders(self) -> Iterator[list[tuple[Job, bool]]]:
        numbers = sorted(self._now.rows)
        for first in range(0, len(numbers), self.orders_at_a_time):
            part = numbers[first : first + self.orders_at_a_time]
            rows = [self._now.rows[number] for number in part if number in self._now.rows]
            yield [(row.job, row.finished) for row in rows]

    def shares_hosts(self) -> bool:
        return any(row.job.share for row in self.jobs())

    def units(self) -> Iterator[tuple[int, str, bool]]:
        return ((row.job.number, row.job.unit, row.finished) for row in self.jobs())

    def open_jobs(self, after: int = 0) -> Iterator[OpenJob]:
        for row in self.jobs():
            if not row.finished and row.job.number > after:
                number = row.job.number
                interval_ms = row.job.interval_ms or 0
                yield OpenJob(number, row.address, self.queued(number), interval_ms)

    def unplaced_jobs(self) -> Iterator[list[int]]:
        yield [row.job.number for row in self.jobs() if not (row.finished or row.address)]

    def jobs_at(self, address: str) -> list[JobRow]:
        rows = (row for row in self.jobs() if not row.finished and address)
        return [row for row in rows if row.address == address]

    def job(self, number: int) -> JobRow | None:
        return self._now.rows.get(number)

    def new_job_number(self) -> int:
        self._changed = True
        self._now.next_job += 1
        return self._now.next_job - 1

    def open_job(self, job: Job) -> None:
        self._changed = True
        row = self._now.rows.get(job.number)
        if row is not None:
            self._now.rows[job.number] = replace(row, job=job)
            return
        self._now.rows[job.number] = JobRow(job, "", "", 0, 0, 0, False)
        self._now.seen[job.number] = set()
        self._now.queues[job.number] = {}

    def place_job(self, job: int, host: str, address: str) -> None:
        self._changed = True
        row = self._now.rows.get(job)
        if row is not None:
            self._now.rows[job] = replace(row, host=host, address=address)

    def count(self, job: int, *, pages: int, kept: int, response_bytes: int) -> None:
        self._changed = True
        row = self._now.rows.get(job)
        if row is not None:
            self._now.rows[job] = replace(
                row,
                pages=row.pages + pages,
                kept=row.kept + kept,
                response_bytes=row.response_bytes + response_bytes,
            )

    def finish_job(self, job: int, *, may_reopen: bool = False, keeps_queue: bool = False) -> None:
        self._changed = True
        row = self._now.rows.get(job)
        if row is not None:
            self._now.rows[job] = replace(row, finished=True)
            if keeps_queue:
                self._now.kept[job] = self._now.queues.pop(job, {})
                return
            if not may_reopen or self.queued(job):
                self._now.seen.pop(job, None)
            self._now.queues.pop(job, None)

    def may_reopen(self, job: int) -> bool:
        row = self._now.rows.get(job)
        return row is not None and row.finished and job in self._now.seen

    def reopen_job(self, job: int) -> bool:
        if not self.may_reopen(job):
            return False
        self._changed = True
        self._now.rows[job] = replace(self._now.rows[job], finished=False)
        self._now.queues[job] = self._now.kept.pop(job, {})
        return True

    def has_met(self, job: int, url: str) -> bool:
        return url in self._now.seen.get(job, ())

    def drop_job(self, job: int) -> None:
        self._changed = True
        for part in (self._now.rows, self._now.seen, self._now.queues, self._now.kept):
            part.pop(job, None)

    def add_new(self, job: int, urls: Sequence[str]) -> list[bool]:
        self._changed = True
        seen = self._now.seen.get(job)
        if seen is None or self._now.rows[job].finished:
            return [False] * len(urls)
        new = []
        for url in urls:
            new.append(url not in seen)
            seen.add(url)
        return new

    def push(self, items: Iterable[QueuedUrl]) -> None:
        self._changed = True
        for item in items:
            queue = self._now.queues.get(item.job)
            if queue is not None:
                position = self._next(item.level)
                queue[position] = replace(item, position=position)

    def take(self, job: int, after: int, limit: int, level: int = 0) -> list[QueuedUrl]:
        queue = self._now.queues.get(job, {})
        behind = [position for position in sorted(queue) if position > after]
        return [queue[one] for one in behind if one >> LEVEL_BITS == level][:limit]

    def queued(self, job: int) -> int:
        return len(self._now.queues.get(job, ()))

    def waiting(self) -> int:
        return sum(map(len, self._now.queues.values()))

    def remove(self, job: int, position: int) -> None:
        self._changed = True
        self._now.queues.get(job, {}).pop(position, None)

    def keep(self, job: int, position: int) -> None:
        self.remove(job, position)
        self.count(job, pages=0, kept=1, response_bytes=0)

    def retry(self, job: int, position: int, attempts: int, due_ms: int = 0) -> None:
        self._changed = True
        queue = self._now.queues.get(job, {})
        item = queue.pop(position, None)
        if item is not None:
            behind = self._next(item.level)
            queue[behind] = replace(item, position=behind, attempts=attempts, due_ms=due_ms)

    def rests(self) -> list[AddressBackoff]:
        return list(self._now.rests.values())

    def keep_rest(self, rest: AddressBackoff) -> None:
        self._changed = True
        self._now.rests[rest.address] = rest

    def forget_rest(self, address: str) -> None:
        self._changed = True
        self._now.rests.pop(address, None)

    def append_captures(self, captures: Sequence[tuple[EncodedCapture, tuple[str, ...]]]) -> None:
        self._changed = True
        if self.full:
            raise DiskFullError("no room")
        for encoded, outward in captures:
            self._now.captures.append(encoded.entry.url)
            self._now.outward.extend(outward)

    def append_log(self, requests: Sequence[FetchAnswer]) -> None:
        self._changed = True
        if self.full:
            raise DiskFullError("no room")
        self._now.log.extend(requests)

    def count_probe(self, unit: str, round_number: int) -> None:
        if self.full:
            raise DiskFullError("no room")
        self._changed = True
        self._now.probed.append((unit, round_number))

    def commit(self) -> None:
        if self.full:
            raise DiskFullError("no room")
        self.commits += 1
        if self._changed:
            self._changed = False
            self._disk = self._now.copy()

    def _next(self, level: int) -> int:
        self._now.next_position += 1
        return level << LEVEL_BITS | self._now.next_position - 1


@dataclass(frozen=True)
class Page:
    """What the scripted web answers for one URL."""

    links: tuple[str, ...] = ()
    status: int = 200
    outcome: Outcome = "answered"
    body: bytes = b"<html></html>"
    location: str | None = None
    retry_after_s: float | None = None
    elapsed_ms: float = 10.0
    kept_alive: bool = False
    header: bytes = HTML
    broken_bytes: int = 0  # what came of an answer without a whole header


NOT_FOUND = Page(status=404)


@dataclass
class Flight:
    """A request that was begun and not answered yet."""

    request: FetchRequest
    started_s: float
    done: Callable[[FetchAnswer], None]


UNSENT = ("no_permit", "forbidden_address", "refused")


class FakeFetcher:
    """Keeps requests until the test answers them from a scripted web."""

    crowded = False

    def __init__(self, clock: FakeClock, web: dict[str, Page]) -> None:
        self._clock = clock
        self.web = web
        self.flights: list[Flight] = []
        self.started: list[tuple[float, str, str]] = []  # (when, address, url)
        self.permitted = True
        self.dead: set[str] = set()  # addresses to which no connection comes about

    def start(self, request: FetchRequest, done: Callable[[FetchAnswer], None]) -> None:
        self.started.append((self._clock.now_s, request.address, request.url))
        self.flights.append(Flight(request, self._clock.now_s, done))

    def answer(self, index: int = 0, outcome: Outcome | None = None) -> FetchRequest:
        """Answer one of the flights now; `outcome` instead of what the web says."""
        flight = self.flights.pop(index)
        page = self.web.get(flight.request.url, NOT_FOUND)
        if flight.request.address in self.dead:
            outcome = "refused"
        if outcome is not None:
            page = replace(page, outcome=outcome)
        flight.done(self._answer(flight, page))
        return flight.request

    def _answer(self, flight: Flight, page: Page) -> FetchAnswer:
        answered = page.outcome in ("answered", "truncated")
        header = page.header.replace(b" 200 ", b" %d " % page.status, 1)
        capture = Capture(
            url=flight.request.url,
            fetched_at_ms=self._clock.epoch_ms(),
            request=b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            response_header=header,
            body=page.body,
            ip=flight.request.address or None,
        )
        return FetchAnswer(
            request=flight.request,
            outcome=page.outcome,
            capture=capture if answered else None,
            status=page.status if answered else 0,
            request_bytes=0 if page.outcome in UNSENT else 100,
            response_bytes=len(page.body) if answered else page.broken_bytes,
            elapsed_ms=page.elapsed_ms,
            started_epoch_ms=self._clock.epoch_ms(),
            ended_s=self._clock.now_s,
            kept_alive=page.kept_alive,
            location=page.location,
            retry_after_s=page.retry_after_s,
        )


class FakeResolver:
    """Answers look-ups when told to; a host without an entry has the address 192.0.2.1."""

    def __init__(self) -> None:
        self.addresses: dict[str, tuple[str, ...]] = {}
        self.temporary: set[str] = set()
        self.ttl_s = 3600.0
        self.took_ms: float | None = None
        self.waiting: list[tuple[str, Callable[[LookUp], None]]] = []
        self.asked: list[str] = []

    def start(self, host: str, done: Callable[[LookUp], None]) -> None:
        self.asked.append(host)
        self.waiting.append((host, done))

    def answer(self, index: int = 0) -> None:
        host, done = self.waiting.pop(index)
        addresses = self.addresses.get(host, ("192.0.2.1",))
        reason = "" if addresses else "no such name"
        temporary = host in self.temporary
        done(LookUp(host, addresses, self.ttl_s, reason, temporary, self.took_ms))


class FakeWorker:
    """Does pages' work when told to, with the links that the scripted web names."""

    crowded = False

    def __init__(self, web: dict[str, Page]) -> None:
        self.web = web
        self.waiting: list[tuple[Fetched, Callable[[PageWork], None]]] = []

    def start(self, page: Fetched, done: Callable[[PageWork], None]) -> None:
        self.waiting.append((page, done))

    def close(self) -> None:
        self.waiting.clear()

    def answer(self, index: int = 0) -> None:
        page, done = self.waiting.pop(index)
        done(work_of(page, self.web))


def work_of(page: Fetched, web: dict[str, Page]) -> PageWork:
    """Return the work on a page of the scripted web."""
    links = () if page.is_rules else web.get(page.url, NOT_FOUND).links
    processed = Processed(
        encode_capture(page.capture),
        page.url,
        page.host,
        page.address,
        page.job,
        page.is_rules,
        tuple(url for url in links if host_of(url) != page.host),
    )
    return PageWork(processed, Links(links, page.url, page.job, page.depth + 1))


def handle(handler: Handler, port: str, *messages: object) -> list[Output]:
    """Give a handler a batch at an input, as a runner does; the messages must be of its type."""
    one = handler.inputs()[port]
    assert all(isinstance(message, one.message) for message in messages), messages
    return list(one.handle(messages))


class FakeReports:
    """Remembers what the manager would learn."""

    def __init__(self) -> None:
        self.units: list[UnitFinished] = []
        self.quiet: list[UnitClosed] = []
        self.found: list[Outside] = []
        self.hosts: dict[str, tuple[str, ...]] = {}
        self.requests: list[FetchAnswer] = []
        self.pages: list[Processed] = []

    def finished(self, unit: UnitFinished) -> None:
        self.units.append(unit)

    def closed(self, unit: UnitClosed) -> None:
        self.quiet.append(unit)

    def outside(self, urls: Sequence[Outside]) -> None:
        self.found.extend(urls)

    def addresses(self, host: str, addresses: Sequence[str]) -> None:
        self.hosts[host] = tuple(addresses)

    def requested(self, requests: Sequence[FetchAnswer]) -> None:
        self.requests.extend(requests)

    def kept(self, pages: Sequence[Processed]) -> None:
        self.pages.extend(pages)
