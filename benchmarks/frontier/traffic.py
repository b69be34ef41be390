"""URLs through the real dedup and frontier, with every answer made up at once."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.modules.counts import StopCounts
from agent.modules.dedup import Dedup
from agent.modules.dns.resolve import Resolve
from agent.modules.filter import Filter
from agent.modules.frontier import Frontier
from agent.modules.limits import CrawlLimits, Politeness
from agent.modules.server_list.scope import scope_of
from agent.modules.server_list.seed import Seed
from agent.pipeline.ledger import Ledger
from agent.pipeline.messages.hosts import HostBegun, LookUp, Placed
from agent.pipeline.messages.pages import Candidate, Processed
from agent.pipeline.messages.requests import Due, FetchAnswer, FetchRequest, Tick
from agent.pipeline.messages.robots import RulesDue, RulesKnown
from agent.pipeline.partition import Partition
from shared.archive.capture import Capture
from shared.archive.encode import encode_capture

__all__ = [
    "COMMIT_URLS",
    "PAGE_LINKS",
    "Traffic",
    "address_of",
    "host_of_job",
    "job_of_page",
    "url_of_page",
]

COMMIT_URLS = 250
PARALLEL = 200
PAGE_LINKS = 10
"""Links of a page that were met long ago, in `look_up`."""

_NO_WAITING = Politeness(interval_s=0, fast_interval_s=0, times_last=0)
_STORED = encode_capture(Capture("http://x.example/", 0, b"", b"HTTP/1.1 200 OK\r\n\r\n"))
_LIMITS = CrawlLimits(parallel=PARALLEL, pages_per_host=1 << 40)


def host_of_job(job: int) -> str:
    """Return the host key of a job."""
    return f"http://www.h{job}.example:80/"


def address_of(job: int) -> str:
    """Return a separate address for each job."""
    return f"10.{job >> 16}.{job >> 8 & 255}.{job & 255}"


def url_of_page(job: int, page: int) -> str:
    """Return a URL of usual length."""
    return f"http://www.h{job}.example/section-{page % 97}/page-{page}.html"


@dataclass
class Traffic:
    """Runs the modules; `ended` counts URLs that are done."""

    ledger: Ledger
    hosts: int
    filled: int  # pages that were met before
    ended: int = 0
    now_s: float = 1000.0
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    politeness: Politeness = _NO_WAITING
    limits: CrawlLimits = _LIMITS

    def __post_init__(self) -> None:
        """Build the modules that know of hosts, as a process does that continues after a crash."""
        stops, scope, clock = StopCounts(), scope_of(self.ledger), _Clock(self)
        self.next_page = self.filled
        self.seed = Seed(self.ledger, scope)
        self.filter = Filter(scope, self.limits, lambda url: False, stops, lambda: 2026)
        self.dedup = Dedup(self.ledger, self.limits, stops)
        self.answers: list[LookUp] = []
        self.resolve = Resolve(
            self.ledger, _Names(), clock, self.limits, Partition(), self.answers.append
        )
        self.frontier = Frontier(
            self.ledger, scope, self.politeness, self.limits, Partition(), stops, StopCounts()
        )

    def pass_through(self, count: int) -> None:
        """Find, queue, take and end so many URLs, and commit."""
        goal = self.ended + count
        commit_at = self.ended + COMMIT_URLS
        while self.ended < goal:
            self.now_s += 0.1
            before = self.ended
            self._turn()
            if self.ended == before:
                self.now_s += 60
            if self.ended >= commit_at:
                self.ledger.commit()
                commit_at = self.ended + COMMIT_URLS
        self.ledger.commit()

    def look_up(self, count: int) -> None:
        """Find again URLs met long ago, so many, in pages of ten links."""
        for _ in range(count // PAGE_LINKS):
            page = self.chance.randrange(self.filled // PAGE_LINKS) * PAGE_LINKS
            job = job_of_page(page, self.hosts)
            links: list[Candidate] = [
                Candidate(url_of_page(job, one), host_of_job(job), job, 2, 0, None)
                for one in range(page, page + PAGE_LINKS)
            ]
            if list(self.dedup.handle_candidates(links)):
                raise AssertionError(f"page {page} of job {job} was forgotten")

    def _turn(self) -> None:
        """Begin requests that may begin, end them, and take the found links."""
        found: list[Candidate] = []
        for message in self._begin_requests():
            if isinstance(message, RulesDue):
                self._know_rules(message)
            else:
                self._end_page(message, found)
        self._take_links(found)

    def _begin_requests(self) -> list[Due | RulesDue]:
        """Return the requests that begin now; names are looked up at once."""
        tick = Tick(self.now_s, int(self.now_s * 1000), fetching=True)
        started = list(self.frontier.handle_tick([tick]))
        begun = [message for _, message in started if isinstance(message, HostBegun)]
        if begun:
            list(self.resolve.handle_begun(begun))
        list(self.resolve.handle_tick([tick]))
        while self.answers:
            answers, self.answers[:] = list(self.answers), []
            list(self.resolve.handle_answer(answers))
        return [message for _, message in started if isinstance(message, Due | RulesDue)]

    def _take_links(self, found: list[Candidate]) -> None:
        """Queue links that were not met before."""
        placed = []
        for _, new in self.dedup.handle_candidates(found) if found else ():
            assert isinstance(new, Candidate)
            placed.append(Placed(new.job, new.host, address_of(new.job)))
        list(self.frontier.handle_placed(placed))

    def _know_rules(self, due: RulesDue) -> None:
        list(self.frontier.handle_ended([self._answer(due, 90)]))
        known = RulesKnown(due.host, due.address, self.now_s + 86_400, None)
        list(self.frontier.handle_rules_known([known]))

    def _end_page(self, due: Due, found: list[Candidate]) -> None:
        list(self.frontier.handle_ended([self._answer(due, 9000)]))
        page, self.next_page = self.next_page, self.next_page + 1
        job = job_of_page(page, self.hosts)
        found.append(Candidate(url_of_page(job, page), host_of_job(job), job, 2, 0, due.url))
        kept = Processed(_STORED, due.url, due.host, due.address, due.job, is_rules=False)
        list(self.frontier.handle_kept([kept]))
        self.ended += 1

    def _answer(self, due: Due | RulesDue, size_bytes: int) -> FetchAnswer:
        request = FetchRequest(due.url, due.address, 1, isinstance(due, RulesDue), due=due)
        now_s = self.now_s
        return FetchAnswer(
            request, "answered", None, 200, 200, size_bytes, 5.0, int(now_s * 1000), now_s, False
        )


def job_of_page(page: int, hosts: int) -> int:
    """Return the job that met a page while the ledger was filled."""
    return page // PAGE_LINKS * 2654435761 % hosts + 1


class _Names:
    """Looks each host of the benchmark up, at once."""

    def start(self, host: str, done: Callable[[LookUp], None]) -> None:
        job = int(host.split(".")[1].removeprefix("h"))
        done(LookUp(host, (address_of(job),), 86_400.0))


class _Clock:
    """The time of the traffic."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic

    def monotonic_s(self) -> float:
        return self._traffic.now_s

    def boottime_s(self) -> float:
        return self._traffic.now_s

    def epoch_ms(self) -> int:
        return int(self._traffic.now_s * 1000)
