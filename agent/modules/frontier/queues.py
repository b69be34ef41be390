"""Addresses, their hosts and the hosts' jobs: three rings, one in the other.

An address has a turn when its rest is over; it gives it to the next of its hosts, which gives it
to the next of its jobs, which gives it to the next of its URLs. A ring holds only what could use
its turn, so a turn costs the same however many hosts, jobs and URLs there are. The address rests
for its interval, the host for its Crawl-delay and its share of the rate, the job for retries.

There may be a million of them, so what only few need is made when it is needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from agent.modules.frontier.linked_queue import Line
from agent.modules.frontier.queue_window import Front
from agent.pipeline.ledger import Ledger, QueuedUrl
from agent.pipeline.messages.jobs import Job, UnitClosed
from agent.pipeline.messages.requests import Due
from agent.pipeline.messages.robots import RulesDue
from agent.pipeline.shared_addresses import address_of
from shared.host_failures import HostFailure

if TYPE_CHECKING:
    from agent.modules.frontier.gates import Gate

__all__ = ["AddressQueue", "HostQueue", "JobQueue"]

RulesState = Literal["unknown", "asked", "known"]


@dataclass(slots=True, eq=False)
class JobQueue:
    """One job, and what of its queues is in memory."""

    job: Job
    host: HostQueue
    limit: int  # pages
    pages: int = 0
    response_bytes: int = 0
    not_before_s: float = 0.0
    in_flight: int = 0
    front: Front | None = None  # from its first turn on
    stopped: str = ""  # why no more of it is fetched
    failure: HostFailure | None = None  # by which it has failed, where it is stopped
    trouble: str = ""  # what a URL of it had as the end of its last attempt, if that was no page
    faults: int = 0  # of these, answers that are kept
    listed: bool = False
    resting: Any = None  # what the wheel holds of it (`scheduler.Resting`)
    ahead: Any = None  # in the host's ring
    behind: Any = None

    @property
    def at_limit(self) -> bool:
        """Return whether it has had, or is having, its last page."""
        return self.pages + self.in_flight >= self.limit

    @property
    def waits(self) -> bool:
        """Return whether a URL waits, or perhaps does."""
        return self.front is None or self.front.waits

    @property
    def wants_turn(self) -> bool:
        """Return whether it would use a turn, now or when its rest is over."""
        front = self.front
        return (
            not self.stopped
            and self.pages + self.in_flight < self.limit
            and (front is None or front.waits)
        )

    @property
    def under_way(self) -> int:
        """Return how many pages are fetched or being fetched, and not kept yet."""
        return 0 if self.front is None else len(self.front.under_way)

    def is_at(self, host: str, address: str) -> bool:
        """Return whether it is crawled under a name at an address, and stays there."""
        here = self.host
        return here.name == host and here.address.name == address and not here.leaves_to

    def has_more(self) -> None:
        """Take note that its queue on disk holds something new."""
        if self.front is not None:
            self.front.has_more()

    def is_under_way(self, url: QueuedUrl) -> bool:
        """Return whether the same URL is fetched or being fetched, and not kept yet."""
        return self.front is not None and url.url in self.front.under_way

    def postpone(self, url: QueuedUrl, until_s: float) -> None:
        """Give a URL another turn later."""
        assert self.front is not None
        self.front.postpone(url, until_s)

    def next_url(
        self,
        now_s: float,
        ledger: Ledger,
        window: int,
        due_s: Callable[[QueuedUrl], float],
        at_once: int,
    ) -> QueuedUrl | None:
        """Take the next URL whose time has come; None: there is none now."""
        if self.front is None:
            self.front = Front()
        url = self.front.next_url(self.job.number, now_s, ledger, window, due_s, at_once)
        if url is None:
            self.not_before_s = max(self.not_before_s, self.front.later_s)
        return url


@dataclass(slots=True, eq=False)
class HostQueue:
    """The jobs of one host, and what its robots.txt means for their turns."""

    name: str
    address: AddressQueue
    jobs: dict[int, JobQueue] = field(default_factory=dict)
    turns: Line[JobQueue] = field(default_factory=Line)
    not_before_s: float = 0.0
    rules: RulesState = "unknown"
    rules_until_s: float = 0.0
    rules_fresh: bool = False  # no page was fetched by them yet: they hold for one, however long
    rules_failures: int = 0
    rules_retries: int = 0  # of the request for them that is next: 1 after an outcome `retry`
    crawl_delay_s: float = 0.0
    failures: int = 0  # requests in a row without any answer
    asks_since_s: float = 0.0  # when it began to ask for time, without a page since; 0: it does not
    asks: str = ""  # how
    total_bytes: int = 0
    total_ms: float = 0.0
    leaves_to: str = ""  # the address it moves to
    listed: bool = False
    resting: Any = None
    ahead: Any = None  # in the address's ring
    behind: Any = None

    @property
    def wants_turn(self) -> bool:
        """Return whether it would use a turn of its address."""
        return self.turns.first is not None and self.rules != "asked" and not self.leaves_to

    @property
    def share_s(self) -> float:
        """Return the rest that the list asks for, whichever of the host's units is fetched."""
        return max((job.job.interval_ms or 0 for job in self.jobs.values()), default=0) / 1000

    @property
    def own_rest_s(self) -> float:
        """Return the rest of the host itself; 0: none. A Crawl-delay is for all agents together."""
        longest_ms, agents = 0, 1
        for queue in self.jobs.values():  # one as a rule, and asked for each page: no generators
            job = queue.job
            if job.interval_ms or job.share:
                longest_ms = max(longest_ms, job.interval_ms or 0)
                agents = max(agents, job.share)
        if not longest_ms and not self.crawl_delay_s:
            return 0.0
        return max(self.crawl_delay_s * agents, longest_ms / 1000)

    @property
    def in_flight(self) -> bool:
        """Return whether a request to it is under way at its address."""
        holder = self.address.holder
        return holder is not None and holder.host == self.name

    @property
    def quiet(self) -> bool:
        """Return whether nothing of it is under way anywhere."""
        if self.in_flight or self.rules == "asked":
            return False
        return not any(job.under_way for job in self.jobs.values())


@dataclass(slots=True, eq=False)
class AddressQueue:
    """The hosts of one clock, and its token. A clock is an address, or a domain at a shared one."""

    name: str
    hosts: dict[str, HostQueue] = field(default_factory=dict)
    turns: Line[HostQueue] = field(default_factory=Line)
    rules: deque[RulesDue] | None = None  # of other hosts, behind a redirect
    holder: Due | RulesDue | None = None  # of the token
    not_before_s: float = 0.0
    last_end_s: float = 0.0
    rest_s: float = 0.0  # after the last end
    strikes: int = 0  # errors, less the successes since
    in_a_row: int = 0  # requests on the connection that is open
    again: HostQueue | None = None  # whose connection it is
    gap: int = -1  # the last gap after which it rested
    closing: tuple[UnitClosed, ...] = ()  # when the token is back
    arriving: bool = False  # it is new, and its first rest begins with one of the next ticks
    gate: Gate | None = None  # of a shared address, whose domain it is
    leaving: Gate | None = None  # that waits for its last request: the address has another rule
    listed: bool = False
    resting: Any = None

    @property
    def address(self) -> str:
        """Return the address to which its requests go."""
        return address_of(self.name)

    @property
    def wants_turn(self) -> bool:
        """Return whether it would use its turn."""
        return self.holder is None and (self.turns.first is not None or bool(self.rules))

    def ask_for(self, rules: RulesDue, *, at_once: bool = False) -> None:
        """Schedule another host's robots.txt here; at_once: before all others."""
        if self.rules is None:
            self.rules = deque()
        if at_once:
            self.rules.appendleft(rules)
        else:
            self.rules.append(rules)

    def end_burst(self) -> None:
        """Start the rest that was put off for the open connection."""
        if self.again is not None:
            self.again, self.in_a_row = None, 0
            self.not_before_s = max(self.not_before_s, self.last_end_s + self.rest_s)

    @property
    def at_rest(self) -> bool:
        """Return whether nothing of it waits or is under way, though it may be woken."""
        if self.holder is not None or self.rules:
            return False
        return not any(
            (job.waits and not job.stopped) or job.under_way
            for host in self.hosts.values()
            for job in host.jobs.values()
        )

    @property
    def first_rest_s(self) -> float:
        """Return for how long it rests at least before its first request.

        Of a host that others fetch from too: the agent before may only just have ended.
        """
        shared = (
            host.share_s
            for host in self.hosts.values()
            if any(job.job.share for job in host.jobs.values())
        )
        return max(shared, default=0.0)

    @property
    def empty(self) -> bool:
        """Return whether no request can follow from it."""
        if self.holder is not None or self.rules:
            return False
        for host in self.hosts.values():  # noqa: SIM110  # asked for each page: no generator
            if host.jobs:
                return False
        return True
