"""Addresses, their hosts and the hosts' jobs: three rings, one in the other.

An address has a turn when its rest is over; it gives it to the next of its hosts, which gives it
to the next of its jobs, which gives it to the next of its URLs. A ring holds only what could use
its turn, so a turn costs the same however many hosts, jobs and URLs there are. Each of the three
has its own rest: the interval of the address, the Crawl-delay of the host, the share of the job.

Invariant: of a job's queue at most a window is in memory; all of it, with what is under way, is
in the ledger until the page is kept.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from agent.pipeline.messages import Due, Job, RulesDue, UnitClosed
from agent.pipeline.ports import Ledger, QueuedUrl

__all__ = ["AddressQueue", "HostQueue", "JobQueue"]

RulesState = Literal["unknown", "asked", "known"]


@dataclass(slots=True, eq=False)
class JobQueue:
    """The URLs of one job, in the ledger's order."""

    job: Job
    host: HostQueue
    limit: int  # pages
    pages: int = 0
    response_bytes: int = 0
    not_before_s: float = 0.0
    window: deque[QueuedUrl] = field(default_factory=deque)
    after: int = 0  # position up to which the window was taken
    more: bool = True  # behind it, perhaps
    under_way: dict[str, QueuedUrl] = field(default_factory=dict)
    in_flight: int = 0
    later: list[tuple[float, int, QueuedUrl]] = field(default_factory=list)  # further attempts
    retry_at: dict[str, float] = field(default_factory=dict)
    stopped: str = ""  # why no more of it is fetched
    listed: bool = False
    sleeping: bool = False

    @property
    def at_limit(self) -> bool:
        """Tell whether it has had, or is having, its last page."""
        return self.pages + self.in_flight >= self.limit

    @property
    def wants_turn(self) -> bool:
        """Tell whether it would use a turn, now or when its rest is over."""
        waiting = self.window or self.more or self.later
        return bool(waiting) and not self.stopped and not self.at_limit

    def next_url(self, now_s: float, ledger: Ledger, window: int) -> QueuedUrl | None:
        """Take the next URL whose time has come; None: there is none now."""
        while True:
            if self.later and self.later[0][0] <= now_s:
                return heapq.heappop(self.later)[2]
            if not self.window and not self._refill(ledger, window):
                if self.later:
                    self.not_before_s = max(self.not_before_s, self.later[0][0])
                return None
            url = self.window.popleft()
            due_s = self.retry_at.pop(url.url, 0.0)
            if due_s <= now_s:
                return url
            heapq.heappush(self.later, (due_s, url.position, url))

    def put_back(self, url: QueuedUrl) -> None:
        """Give back a URL that was not fetched: it keeps its place."""
        self.window.appendleft(url)

    def _refill(self, ledger: Ledger, window: int) -> bool:
        # Attempts that wait for their time are in memory too: they count.
        room = window - len(self.later)
        if not self.more or room <= 0:
            return False
        taken = ledger.take(self.job.number, self.after, room)
        self.more = len(taken) == room
        if taken:
            self.after = taken[-1].position
            self.window.extend(taken)
        return bool(taken)


@dataclass(slots=True, eq=False)
class HostQueue:
    """The jobs of one host, and what its robots.txt means for their turns."""

    name: str
    address: AddressQueue
    jobs: dict[int, JobQueue] = field(default_factory=dict)
    turns: deque[JobQueue] = field(default_factory=deque)
    not_before_s: float = 0.0
    rules: RulesState = "unknown"
    rules_until_s: float = 0.0
    rules_fresh: bool = False  # no page was fetched by them yet: they hold for one, however long
    rules_failures: int = 0
    crawl_delay_s: float = 0.0
    failures: int = 0  # requests in a row without any answer
    total_bytes: int = 0
    total_ms: float = 0.0
    leaves_to: str = ""  # the address it moves to
    listed: bool = False
    sleeping: bool = False

    @property
    def wants_turn(self) -> bool:
        """Tell whether it would use a turn of its address."""
        return bool(self.turns) and self.rules != "asked" and not self.leaves_to

    @property
    def in_flight(self) -> bool:
        """Tell whether a request to it is under way at its address."""
        holder = self.address.holder
        return holder is not None and holder.host == self.name

    @property
    def quiet(self) -> bool:
        """Tell whether nothing of it is under way anywhere."""
        if self.in_flight or self.rules == "asked":
            return False
        return not any(job.under_way for job in self.jobs.values())


@dataclass(slots=True, eq=False)
class AddressQueue:
    """The hosts at one address, and its token and clock."""

    name: str
    hosts: dict[str, HostQueue] = field(default_factory=dict)
    turns: deque[HostQueue] = field(default_factory=deque)
    rules: deque[RulesDue] = field(default_factory=deque)  # of other hosts, behind a redirect
    holder: Due | RulesDue | None = None  # of the token
    not_before_s: float = 0.0
    last_end_s: float = 0.0
    rest_s: float = 0.0  # after the last end
    strikes: int = 0  # errors, less the successes since
    in_a_row: int = 0  # requests on the connection that is open
    again: HostQueue | None = None  # whose connection it is
    gap: int = -1  # the last gap after which it rested
    placed: bool = False  # has one of the parallel places
    waiting: int = 0  # for a place: with how many URLs
    grown: int = 0  # news since then
    closing: list[UnitClosed] = field(default_factory=list)  # when the token is back
    listed: bool = False
    sleeping: bool = False

    @property
    def wants_turn(self) -> bool:
        """Tell whether it would use its turn."""
        return bool(self.turns or self.rules) and self.holder is None

    def end_burst(self) -> None:
        """Let the rest begin that was put off for the connection that is open."""
        if self.again is not None:
            self.again, self.in_a_row = None, 0
            self.not_before_s = max(self.not_before_s, self.last_end_s + self.rest_s)

    @property
    def empty(self) -> bool:
        """Tell whether nothing may come of it any more."""
        if self.holder is not None or self.rules:
            return False
        return not any(host.jobs for host in self.hosts.values())
