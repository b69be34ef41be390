"""Watches a crawl from outside: what no order of events may ever lead to.

- two requests to one address at once, or closer than the interval, a restart or not
- closer than what its last answer asks for: `Retry-After`, twice the interval after an error, 429
  or 503, or the second 500, 502, 504 in a row, ten times as long as the answer took
- closer than the Crawl-delay of its host, or the interval of its unit
- a request before an address has rested after a start or a gap
- a request while fetching is not allowed
- a request for a unit that is not held, or done
- a unit that finishes or closes twice, or closes while a request to its host is under way
- a URL that is neither kept, nor queued, nor given up with a reason
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.modules.counts import StopCounts
from agent.pipeline.ledger import LEVELS
from agent.pipeline.messages.jobs import Job, UnitClosed, UnitFinished
from agent.pipeline.messages.requests import Due, FetchAnswer, FetchRequest
from shared.urls import host_of
from tests.agent.fakes import FakeClock, FakeFetcher, FakeLedger, FakeReports, Page

TROUBLE = (429, 500, 502, 503, 504)


@dataclass
class Judge:
    """What is known from outside, and over processes."""

    clock: FakeClock
    interval_s: float
    parallel: int
    delays_s: dict[str, float] = field(default_factory=dict)  # Crawl-delay by host
    ended_s: dict[str, float] = field(default_factory=dict)  # by address
    host_ended_s: dict[str, float] = field(default_factory=dict)
    times_last: float = 0.0
    unit_delays_s: dict[str, float] = field(default_factory=dict)  # `#Interval` by unit
    rest_s: dict[str, float] = field(default_factory=dict)  # by address, since its last end
    asked_ms: dict[str, int] = field(default_factory=dict)  # by address: wall clock, for longer
    durable_ms: dict[str, int] = field(default_factory=dict)  # the same, as of the last commit
    carried_ms: dict[str, int] = field(default_factory=dict)  # the same, of the process before
    unit_ended_s: dict[tuple[str, int], float] = field(default_factory=dict)  # by unit and job
    fetching: bool = False  # as the last tick said
    burst: int = 1  # requests in a row on one open connection; 0: without limit
    in_a_row: dict[str, int] = field(default_factory=dict)  # by address
    faults_s: dict[str, float] = field(default_factory=dict)  # by address: when it gave such a one
    started_s: dict[str, float] = field(default_factory=dict)  # by address
    open_to: dict[str, str] = field(default_factory=dict)  # by address: the host of the connection
    resumed_s: float = 0.0
    gap_rest_s: float = 0.0  # the shortest interval that was in force since
    units: dict[str, int] = field(default_factory=dict)  # in force: to the job's number
    done: set[str] = field(default_factory=set)
    in_flight: dict[str, FetchRequest] = field(default_factory=dict)  # by address
    excused: set[str] = field(default_factory=set)  # URLs that were given up or denied
    started: list[tuple[float, str, str]] = field(default_factory=list)  # when, address, URL
    ticked_s: float = 0.0
    placed_s: dict[str, float] = field(default_factory=dict)  # by host: the tick before it came

    def starts(self, request: FetchRequest) -> None:
        """Judge the start of a request."""
        now, address, url = self.clock.now_s, request.address, request.url
        assert self.fetching, f"{url} while fetching is not allowed"
        assert address not in self.in_flight, f"two at once: {url}, {self.in_flight[address].url}"
        assert len(self.in_flight) < self.parallel, "more connections than allowed"
        self.started.append((now, address, url))
        host = host_of(url)
        rested_s = now - self.ended_s.get(address, -1e9)
        if rested_s >= self.rest_s.get(address, self.gap_rest_s) - 1e-6:
            self.in_a_row[address] = 1
        else:
            self.in_a_row[address] += 1
            said = f"{address} rested {rested_s} s before {url}"
            assert not self.burst or self.in_a_row[address] <= self.burst, said
            assert self.open_to.get(address) == host, said
        since_s = now - self.resumed_s
        assert since_s >= self.gap_rest_s - 1e-6, f"{address} rested {since_s} s after a gap"
        if not request.rules:
            unit = self.unit_of(request)
            assert unit is not None, f"{url} is not ours"
            assert _holds(unit, url), f"{url} is not of {unit}"
            assert unit not in self.done, f"{url} of a unit that is done"
            delay_s = now - self.host_ended_s.get(host, -1e9)
            assert delay_s >= self.delays_s.get(host, 0.0) - 1e-6, f"{host} rested {delay_s} s"
            delay_s = now - self.unit_ended_s.get((unit, self.units[unit]), -1e9)
            wanted_s = self.unit_delays_s.get(unit, 0.0)
            assert delay_s >= wanted_s - 1e-6, f"{unit} rested {delay_s} s"
        self.in_flight[address] = request
        self.started_s[address] = now

    def resumes(self) -> None:
        """Note that fetching begins, or begins again after a gap."""
        self.resumed_s, self.gap_rest_s = self.clock.now_s, self.interval_s

    def retune(self, interval_s: float) -> None:
        """Note another interval: it holds for the rests that begin from now on."""
        self.interval_s = interval_s
        self.gap_rest_s = min(self.gap_rest_s, interval_s)

    def unit_of(self, request: FetchRequest) -> str | None:
        """Return the unit in force for which a request is; for a robots.txt, any of its host.

        A page that the job of a host found before one of its directories became a unit is still a
        page of that job: no other unit need know it, not even one that is done.
        """
        if request.rules:
            host = host_of(request.url)
            return next((one for one in self.units if host_of(one) == host), None)
        assert isinstance(request.due, Due)
        job = request.due.job
        return next((unit for unit, number in self.units.items() if number == job), None)

    def ends(self, answer: FetchAnswer) -> None:
        """Note the end of a request."""
        address = answer.request.address
        del self.in_flight[address]
        if answer.outcome == "no_permit":
            return
        self.open_to.pop(address, None)
        if answer.kept_alive and _invites(answer):
            self.open_to[address] = host_of(answer.request.url)
        self.ended_s[address] = self.clock.now_s
        self.host_ended_s[host_of(answer.request.url)] = self.clock.now_s
        self.rest_s[address] = self.rest_after(answer)
        self.asked_ms.pop(address, None)
        self.carried_ms.pop(address, None)
        if not _invites(answer):
            until_ms = self.clock.epoch_ms() + int(self.rest_s[address] * 1000)
            self.asked_ms[address] = until_ms
        unit = None if answer.request.rules else self.unit_of(answer.request)
        if unit is not None:
            self.unit_ended_s[unit, self.units[unit]] = self.clock.now_s

    def rest_after(self, answer: FetchAnswer) -> float:
        """Return the least that an address rests after an answer; errors in a row make it more."""
        rest_s = self.interval_s
        answered = answer.outcome in ("answered", "truncated")
        address = answer.request.address
        since_s = self.started_s[address] - self.faults_s.pop(address, -1e9)
        if answered and answer.status in (500, 502, 504):
            self.faults_s[address] = self.clock.now_s
            # An address without work is forgotten when it has rested, and begins with a rest.
            rest_s *= 2 if since_s < 2 * self.gap_rest_s - 1e-6 else 1
        elif not answered or answer.status in (429, 503):
            rest_s *= 2
        elif self.times_last:
            rest_s = max(rest_s, self.times_last * answer.elapsed_ms / 1000)
        return max(rest_s, answer.retry_after_s or 0.0)

    def commit(self) -> None:
        """Note that what is known is durable."""
        self.durable_ms = dict(self.asked_ms)

    def wall_clock_jumps(self) -> None:
        """Note that rests which outlive the process cannot be reckoned any more.

        One that the process before was asked for ends by the wall clock: sooner, where that goes on
        while the machine sleeps.
        """
        for address, until_ms in self.carried_ms.items():
            self.rest_s[address] = min(self.rest_s[address], self._until(address, until_ms))
        self.asked_ms.clear()
        self.durable_ms.clear()

    def crash(self) -> None:
        """Note that all connections broke."""
        for address, request in self.in_flight.items():
            self.ended_s[address] = self.clock.now_s
            self.host_ended_s[host_of(request.url)] = self.clock.now_s
        self.in_flight.clear()
        self.open_to.clear()
        self.faults_s.clear()
        # A new process begins with one interval for everybody, but for those that had asked for
        # more, or did not answer, before the last commit.
        self.rest_s.clear()
        self.asked_ms = dict(self.durable_ms)
        self.carried_ms = dict(self.durable_ms)
        for address, until_ms in self.carried_ms.items():
            self.rest_s[address] = self._until(address, until_ms)
        self.unit_ended_s.clear()

    def _until(self, address: str, until_ms: int) -> float:
        """Return how long an address rests that does so until a moment of the wall clock."""
        until_s = self.clock.now_s + (until_ms - self.clock.epoch_ms()) / 1000
        return max(self.interval_s, until_s - self.ended_s[address])


def _invites(answer: FetchAnswer) -> bool:
    """Return whether an answer asks for no more distance: another request may follow at once."""
    answered = answer.outcome in ("answered", "truncated")
    return answered and answer.status not in TROUBLE and answer.retry_after_s is None


def _holds(unit: str, url: str) -> bool:
    host = host_of(unit)
    return host_of(url) == host and (host + url[url.index("/", 8) + 1 :]).startswith(unit)


class JudgedFetcher(FakeFetcher):
    """Shows every request to the judge."""

    def __init__(self, clock: FakeClock, web: dict[str, Page], judge: Judge) -> None:
        super().__init__(clock, web)
        self._judge = judge

    def start(self, request: FetchRequest, done: Callable[[FetchAnswer], None]) -> None:
        self._judge.starts(request)

        def ended(answer: FetchAnswer) -> None:
            self._judge.ends(answer)
            done(answer)

        super().start(request, ended)


class JudgedReports(FakeReports):
    """Durable with the ledger's commits, as the real ones are."""

    def __init__(self, judge: Judge) -> None:
        super().__init__()
        self._judge = judge
        self._durable: tuple[list[UnitFinished], list[UnitClosed]] = ([], [])
        self._at_close: list[tuple[UnitClosed, tuple[FetchRequest, ...]]] = []

    def finished(self, unit: UnitFinished) -> None:
        assert unit.job not in {one.job for one in self.units}, f"{unit.unit} finished twice"
        self._judge.done.add(unit.unit)
        super().finished(unit)

    def reopened(self, job: int) -> None:
        """Take note that a job that was done continues, and is finished once more."""
        self.units = [one for one in self.units if one.job != job]

    def closed(self, unit: UnitClosed) -> None:
        assert unit.job not in {one.job for one in self.quiet}, f"{unit.unit} closed twice"
        super().closed(unit)
        self._at_close.append((unit, tuple(self._judge.in_flight.values())))

    def check_closed(self) -> None:
        """Judge what was closed since the last time; called when everything is settled."""
        for unit, in_flight in self._at_close:
            for request in in_flight:
                # Its own, or nobody's now: a page of another unit in force may be under way.
                if host_of(request.url) == unit.host:
                    owner = self._judge.unit_of(request)
                    said = f"{unit.unit} closed during {request.url}"
                    assert owner not in (None, unit.unit), said
        self._at_close.clear()

    def commit(self) -> None:
        self._durable = (list(self.units), list(self.quiet))

    def crash(self) -> None:
        finished, closed = self._durable
        self.units, self.quiet = list(finished), list(closed)
        self._at_close.clear()


class JudgedLedger(FakeLedger):
    """Checks, when a job is done, that each of its URLs has been dealt with."""

    judge: Judge
    reports: JudgedReports
    opened: dict[int, int]

    def open_job(self, job: Job) -> None:
        if job.number not in self._now.rows:  # a number that a crash took back is given again
            self.opened[job.number] = len(self._now.captures)
        super().open_job(job)

    def place_job(self, job: int, host: str, address: str) -> None:
        self.judge.placed_s[host] = self.judge.ticked_s
        super().place_job(job, host, address)

    def finish_job(self, job: int, *, may_reopen: bool = False, keeps_queue: bool = False) -> None:
        kept = set(self._now.captures[self.opened[job] :])
        queues = (self.take(job, 0, 10**9, level) for level in range(LEVELS))
        queued = {one.url for queue in queues for one in queue}
        lost = self._now.seen[job] - kept - queued - self.judge.excused
        assert not lost, f"lost: {lost}"
        super().finish_job(job, may_reopen=may_reopen, keeps_queue=keeps_queue)

    def commit(self) -> None:
        super().commit()
        self.reports.commit()
        self.judge.commit()

    def after_crash(self) -> JudgedLedger:
        ledger = JudgedLedger(self._disk.copy())
        ledger.judge, ledger.reports, ledger.opened = self.judge, self.reports, self.opened
        return ledger


class Excuses(StopCounts):
    """Tells the judge which URLs were given up."""

    def __init__(self, judge: Judge) -> None:
        super().__init__()
        self._judge = judge

    def add(self, reason: str, example: str, count: int = 1) -> None:
        self._judge.excused.add(example)
        super().add(reason, example, count)
