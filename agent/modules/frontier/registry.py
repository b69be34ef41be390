"""Registry of a frontier: its addresses, hosts and jobs, by name.

Some thousands of addresses are in memory (`limits.addresses_in_memory`). Of more, each one is
unloaded when it begins to rest, and loaded again for its turn (`address_memory`).

Invariant: a job is in at most one host, a host at one address. An address, and a host with its
own rest, is forgotten only when its rest is over: one that comes back before finds its clock.
"""

from __future__ import annotations

from array import array
from collections import deque
from typing import Final

from agent.modules.frontier.address_memory import LEAST_INTERVAL_S, AddressMemory
from agent.modules.frontier.backoff import BackedOff, BackingOff, WallClock
from agent.modules.frontier.crawl_delay import Pace
from agent.modules.frontier.gates import Gates
from agent.modules.frontier.queues import AddressQueue, HostQueue, JobQueue
from agent.modules.frontier.scheduler import Turns
from agent.modules.frontier.unloaded import Unloaded, key_of
from agent.modules.host_languages import HostLanguages
from agent.modules.limits import CrawlLimits
from agent.modules.outage import Outage
from agent.modules.server_list.scope import Scope
from agent.pipeline.ledger import JobRow, Ledger, QueuedUrl
from agent.pipeline.messages.jobs import Job
from agent.pipeline.messages.requests import Due
from agent.pipeline.messages.robots import RulesDue
from agent.pipeline.shared_addresses import SharedRules
from shared.host_failures import HostFailure

__all__ = ["Registry"]


RETRY_GROWTH: Final = 4.0
NO_RULES: Final[SharedRules] = {}
LOOKUPS_KEPT: Final = 10_000


class Registry:
    """Addresses, hosts and jobs of one frontier. It handles no message and computes no rest."""

    def __init__(
        self,
        scope: Scope,
        ledger: Ledger,
        limits: CrawlLimits,
        pace: Pace,
        shared: SharedRules = NO_RULES,
    ) -> None:
        self.ledger = ledger
        self.limits = limits
        self.pace = pace
        self.jobs: dict[int, JobQueue] = {}
        self.hosts: dict[str, HostQueue] = {}
        self.addresses: dict[str, AddressQueue] = {}
        self.gates = Gates(shared)
        self.unloaded = Unloaded()
        self.address_memory = AddressMemory(self, self.unloaded)
        self.fresh: deque[array[int]] = deque()  # numbers of jobs that were never looked at
        self.begun: list[HostQueue] = []  # not yet reported
        self.arrivals: deque[AddressQueue] = deque()  # that rest from one of the next ticks on
        self.wall = WallClock()
        self.backing_off = BackingOff(ledger, self.wall)
        few = max(1, limits.failures_in_a_row - 1)  # before a host is given up
        self.outage = Outage(limits.offline_addresses, few, limits.offline_s)
        self.lookups_ms: dict[str, float] = {}  # by host, of which no request has told yet
        self.told_to_wait: dict[str, BackedOff] = {}  # by host: those that others fetch from too
        self.tokens_out = 0  # addresses of which a request is under way
        self.under_way = 0  # pages fetched or being fetched, not kept yet
        self.dirty: dict[int, None] = {}  # jobs that may be done: looked at with the next ticks
        self.turns = Turns()
        self.scope = scope
        self.languages = HostLanguages()

    def alter(self, job: Job) -> None:
        """Take note that a job continues under other orders."""
        queue = self.jobs.get(job.number)
        if queue is None:
            if job.number in self.unloaded:
                self.unloaded.changes.altered.add(job.number)
            return
        before, queue.job = queue.job, job
        queue.limit = self.limit(job)
        if (before.interval_ms, before.share) != (job.interval_ms, job.share):
            self.slow(queue.host)

    def use_page_limits(self) -> None:
        """Apply other limits of pages to the jobs in memory; the others are read with theirs."""
        for number, queue in self.jobs.items():
            limit = self.limit(queue.job)
            if limit != queue.limit:
                queue.limit = limit
                self.dirty[number] = None
                self.turns.offer_job(queue)

    def open_job(self, number: int) -> Job | None:
        """Return a job that is in force and not finished, or None."""
        job = self.scope.jobs.numbered(number)
        return None if job is None or job.unit in self.scope.finished else job

    def address(self, name: str) -> AddressQueue:
        """Return an address with all its jobs; a new one rests for an interval first."""
        address = self.addresses.get(name) or self.address_memory.load(key_of(name), name)
        if address is None:
            address = AddressQueue(name, arriving=True, gate=self.gates.of(name))
            self.addresses[name] = address
            self.arrivals.append(address)
            if self.unloaded.jobs:
                self.address_memory.add_fresh_jobs(address)
        return address

    def has(self, name: str) -> bool:
        """Return whether an address is in memory, or has a record."""
        return name in self.addresses or self.unloaded.has(key_of(name))

    def host(self, name: str, address: AddressQueue) -> HostQueue:
        """Return a host, new at an address if there was none."""
        host = self.hosts.get(name)
        if host is None:
            host = self.hosts[name] = address.hosts[name] = HostQueue(name, address)
            self.backing_off.resume_host(host, self.turns.now_s, self.pace.longest_s)
        return host

    def note_lookup(self, host: str, took_ms: float) -> None:
        """Remember how long a look-up took until a request of the host tells it."""
        if len(self.lookups_ms) >= LOOKUPS_KEPT:
            self.lookups_ms.pop(next(iter(self.lookups_ms)))
        self.lookups_ms[host] = took_ms

    def add_job(self, job: Job, host: HostQueue, row: JobRow | None = None) -> JobQueue:
        """Take a job up, with the counters that the ledger has of it, and say where it is.

        row: what the ledger has of it, where that was read already.
        """
        row = row or self.ledger.job(job.number) or JobRow(job, host.name, "", 0, 0, 0, False)
        if (row.host, row.address) != (host.name, host.address.name):
            self.ledger.place_job(job.number, host.name, host.address.name)
        queue = JobQueue(job, host, self.limit(job), row.pages, row.response_bytes)
        if not host.jobs:  # new, or without a job since: whoever looks names up has forgotten it
            self.begun.append(host)
        self.jobs[job.number] = host.jobs[job.number] = queue
        self.dirty[job.number] = None
        self.give_up_slow_probes(host)
        self.give_up_asking(host)
        return queue

    def drop_job(self, queue: JobQueue) -> None:
        """Drop a job that is finished, left the list, or is handed over."""
        self.jobs.pop(queue.job.number, None)
        self.dirty.pop(queue.job.number, None)
        self.under_way -= queue.under_way
        host = queue.host
        host.jobs.pop(queue.job.number, None)
        queue.stopped = queue.stopped or "dropped"  # still in the wheel: skipped there
        if queue.listed:
            host.turns.remove(queue)
            queue.listed = False
        if not host.jobs:
            if host.rules == "asked":
                host.rules = "unknown"  # no request follows for a host that is not held
            self.forget_if_idle(host)

    def let_rest(self, queue: JobQueue) -> None:
        """Keep a job of which nothing is left: what an address says of our network ends."""
        if queue.host.address.at_rest:
            self.outage.forget(queue.host.address.address)

    def drop_host(self, host: HostQueue) -> None:
        """Drop a host with all its jobs: it answers at another address."""
        for queue in list(host.jobs.values()):
            self.drop_job(queue)
        self._remove(host)

    def stop(
        self,
        host: HostQueue,
        reason: str,
        failure: HostFailure | None = None,
        *,
        probes_only: bool = False,
    ) -> None:
        """Fetch no more of a host's jobs; they are done when nothing of them is under way.

        failure: what those have failed by of which no page came.
        """
        for number, queue in host.jobs.items():
            if queue.job.kind != "crawl" or not probes_only:
                if not queue.stopped:
                    queue.stopped, queue.failure = reason, failure
                self.dirty[number] = None

    def give_up_slow_probes(self, host: HostQueue) -> None:
        """Fetch no more of a host's probes where its rules ask for more patience than they have."""
        if host.crawl_delay_s > self.limits.probe_patience_s:
            said = f"not probed: Crawl-delay of {host.crawl_delay_s:g} s"
            self.stop(host, said, probes_only=True)

    def give_up_asking(self, host: HostQueue) -> None:
        """Close the units of a host that asks for more time than a crawl has, as unfinished."""
        patience_s, now_s = self.limits.crawl_patience_s, self.turns.now_s
        if host.asks:
            until_s = max(host.not_before_s, host.address.not_before_s)
            since_s = host.asks_since_s or now_s
            if until_s > now_s and until_s - since_s > patience_s:
                left_s = until_s - now_s
                said = f"asks for time: {host.asks}, {left_s:.0f} s until the next request"
                self.stop(host, said, HostFailure.ASKS_FOR_TIME)
        if host.crawl_delay_s > patience_s:
            said = f"asks for time: Crawl-delay of {host.crawl_delay_s:g} s"
            self.stop(host, said, HostFailure.ASKS_FOR_TIME)

    def forget_if_idle(self, host: HostQueue) -> None:
        """Forget a host without jobs, and its address without hosts, once they have rested."""
        if host.jobs or self.hosts.get(host.name) is not host:
            return
        if host.in_flight or host.leaves_to:
            return  # seen again at the end of the request, or when it is handed over
        if host.not_before_s > self.turns.now_s:
            self.turns.sleep_until(host, host.not_before_s)
        else:
            self._remove(host)
        self.forget_address_if_idle(host.address)

    def forget_address_if_idle(self, address: AddressQueue) -> None:
        """Forget an address of which nothing is left, once it has rested."""
        if not address.empty or self.addresses.get(address.name) is not address:
            return
        if address.gate is None:
            self.outage.forget(address.name)
        if address.hosts:
            return
        if address.resting or address.arriving or address.listed:
            return  # seen again when it wakes up, or has its turn
        if address.not_before_s > self.turns.now_s:
            self.turns.sleep_until(address, address.not_before_s)
        else:
            del self.addresses[address.name]
            self.backing_off.forget(address.name)

    def give_token(self, address: AddressQueue, holder: Due | RulesDue) -> None:
        """Note that a request to an address begins."""
        address.holder = holder
        self.tokens_out += 1
        if address.gate is not None:
            address.gate.start(holder, self.turns.now_s, self.pace.politeness)

    def take_token_back(self, address: AddressQueue) -> None:
        """Note that the request to an address is over."""
        address.holder = None
        self.tokens_out -= 1
        gate = address.leaving
        if gate is not None:
            gate.waits_for.discard(address.name)
            rested_s = self.turns.now_s + self.pace.politeness.interval_s
            gate.not_before_s = max(gate.not_before_s, rested_s)
            self.turns.offer_gate(gate)

    def taken(self, queue: JobQueue, url: QueuedUrl) -> None:
        """Note that a URL's request begins."""
        assert queue.front is not None
        queue.front.under_way[url.url] = url
        queue.in_flight += 1
        self.under_way += 1

    def retry_wait_s(self, attempts: int) -> float:
        """Return how long a URL waits after so many attempts."""
        return self.limits.retry_s * RETRY_GROWTH ** (attempts - 1)

    def due_s(self, url: QueuedUrl) -> float:
        """Return when a URL may be tried; wherever the wall clock was set, none waits longer."""
        if not url.due_ms:
            return 0.0
        latest_s = self.turns.now_s + self.retry_wait_s(url.attempts)
        return min(self.wall.at_s(url.due_ms), latest_s)

    def gone(self, queue: JobQueue, url: str) -> QueuedUrl | None:
        """Note that a URL is no longer under way; None: it was not."""
        found = None if queue.front is None else queue.front.under_way.pop(url, None)
        if found is not None:
            self.under_way -= 1
        return found

    def _remove(self, host: HostQueue) -> None:
        address = host.address
        if self.hosts.get(host.name) is host:
            del self.hosts[host.name]
            if host.asks and host.not_before_s <= self.turns.now_s:
                self.backing_off.forget_host(host.name)
            self.told_to_wait.pop(host.name, None)
        address.hosts.pop(host.name, None)
        host.turns.clear()  # itself it may still be in the wheel: skipped there
        if host.listed:
            address.turns.remove(host)
            host.listed = False
        if address.again is host:
            address.end_burst()
        self.forget_address_if_idle(address)

    def slow(self, host: HostQueue) -> None:
        """Apply a longer rest from the last request on; a shorter one from the next."""
        if host.address.last_end_s:
            since_s = host.address.last_end_s + host.own_rest_s
            host.not_before_s = max(host.not_before_s, since_s)

    def limit(self, job: Job) -> int:
        """Return how many pages of a job are fetched at most."""
        pages = self.limits.pages_per_host
        if not self.limits.scope.is_empty:
            rule = self.limits.scope.decide_unit(job.unit).rule
            pages = min(pages, rule.pages or pages) if rule.includes else 0
        return min(job.max_pages, pages) if job.max_pages else pages

    def work_left(self, address: AddressQueue) -> float:
        """Return URLs times interval: whoever takes longest should begin first.

        Hosts share the interval of their address; a host's own rest is waited for beside it, so
        the longest of them counts.
        """
        base_s = max(self.pace.base_s(next(iter(address.hosts.values()), None)), LEAST_INTERVAL_S)
        urls, longest_s = len(address.rules or ()), 0.0
        for host in address.hosts.values():
            of_host = sum(map(self.ledger.queued, host.jobs))
            urls += of_host
            longest_s = max(longest_s, of_host * host.own_rest_s)
        return max(urls * base_s, longest_s)
