"""Registry of a frontier: its addresses, hosts and jobs, by name.

Some thousands of addresses are in memory (`limits.addresses_in_memory`). Of more, each one is
unloaded when it begins to rest, and loaded again for its turn (`unloaded`, `address_record`).

Invariant: a job is in at most one host, a host at one address. An address, and a host with its
own rest, is forgotten only when its rest is over: one that comes back before finds its clock.
"""

from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import Iterable
from typing import Final

from agent.modules.frontier.address_record import due_s, read, record_of
from agent.modules.frontier.backoff import BackedOff, BackingOff, WallClock
from agent.modules.frontier.crawl_delay import Pace
from agent.modules.frontier.queues import AddressQueue, HostQueue, JobQueue
from agent.modules.frontier.scheduler import Turns
from agent.modules.frontier.unloaded import Unloaded, key_of
from agent.modules.limits import CrawlLimits
from agent.modules.outage import Outage
from agent.modules.server_list.scope import Scope
from agent.pipeline.ledger import JobRow, Ledger, OpenJob, QueuedUrl
from agent.pipeline.messages.jobs import Job
from agent.pipeline.messages.requests import Due
from agent.pipeline.messages.robots import RulesDue
from shared.host_failures import HostFailure

__all__ = ["Registry"]


LEAST_INTERVAL_S: Final = 0.1  # where there is none, URLs decide
RETRY_GROWTH: Final = 4.0
LOOKUPS_KEPT: Final = 10_000
UNLOADED_A_TICK: Final = 2000
"""Addresses that are looked at, whether they can be unloaded: some ten milliseconds."""


class Registry:
    """Addresses, hosts and jobs of one frontier. It handles no message and computes no rest."""

    def __init__(self, scope: Scope, ledger: Ledger, limits: CrawlLimits, pace: Pace) -> None:
        self.ledger = ledger
        self.limits = limits
        self.pace = pace
        self.jobs: dict[int, JobQueue] = {}
        self.hosts: dict[str, HostQueue] = {}
        self.addresses: dict[str, AddressQueue] = {}
        self.unloaded = Unloaded()
        self.resting: deque[AddressQueue] = deque()  # to be unloaded, as far as they can be
        self.left: dict[int, None] = {}  # unloaded jobs that left the list before they were closed
        self._grown: set[int] = set()  # unloaded jobs with more in their queues than before
        self._altered: set[int] = set()  # unloaded jobs of which the order changed
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

    def alter(self, job: Job) -> None:
        """Take note that a job continues under other orders."""
        queue = self.jobs.get(job.number)
        if queue is None:
            if job.number in self.unloaded:
                self._altered.add(job.number)
            return
        before, queue.job = queue.job, job
        queue.limit = self._limit(job)
        if (before.interval_ms, before.share) != (job.interval_ms, job.share):
            self._slow(queue.host)

    def use_page_limits(self) -> None:
        """Apply other limits of pages to the jobs in memory; the others are read with theirs."""
        for number, queue in self.jobs.items():
            limit = self._limit(queue.job)
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
        address = self.addresses.get(name) or self.load(key_of(name), name)
        if address is None:
            address = self.addresses[name] = AddressQueue(name, arriving=True)
            self.arrivals.append(address)
            if self.unloaded.jobs:
                self._add_fresh_jobs(address)
        return address

    def has(self, name: str) -> bool:
        """Return whether an address is in memory, or has a record."""
        return name in self.addresses or self.unloaded.has(key_of(name))

    def load(self, key: int, name: str = "") -> AddressQueue | None:
        """Bring an unloaded address back into memory, with its jobs; None: it has no record.

        name: what it must be, where that is known: two may have one key.
        """
        record = self.unloaded.record(key)
        if record is None:
            return None
        address, numbers = read(record, self.scope.jobs.numbered, self._limit)
        if name and address.name != name:
            return None
        self.unloaded.drop_record(key)
        for number in numbers:
            self.unloaded.leave(number)
            if self.scope.jobs.numbered(number) is None:
                self.left[number] = None
        self.addresses[address.name] = address
        for host in list(address.hosts.values()):
            self.hosts[host.name] = host
            self.jobs.update(host.jobs)
            if not self._altered.isdisjoint(host.jobs):
                self._slow(host)
            if not host.jobs:
                self.forget_if_idle(host)
        self._altered.difference_update(numbers)
        for host in address.hosts.values():
            for number, queue in host.jobs.items():
                if number in self._grown:
                    queue.has_more()
                self.turns.offer_job(queue)
            self.turns.offer_host(host)
        self._grown.difference_update(numbers)
        self.turns.offer_address(address)
        return address

    def peek(self, key: int) -> AddressQueue | None:
        """Return a copy of an unloaded address, for a look at it; None: it has no record."""
        record = self.unloaded.record(key)
        return None if record is None else read(record, self.scope.jobs.numbered, self._limit)[0]

    def has_unloaded(self, number: int) -> bool:
        """Return whether a job is unloaded, or left the list while it was unloaded."""
        return number in self.unloaded or number in self.left

    def drop_unloaded(self, number: int) -> None:
        """Drop a job whose address is not in memory."""
        self.left.pop(number, None)
        if self.unloaded.is_fresh(number):
            self.unloaded.leave(number)
            return
        queue = self.load_job(number)  # one that is not open is dropped by that already
        if queue is not None:
            self.drop_job(queue)

    def load_host(self, name: str) -> HostQueue | None:
        """Return a host, brought into memory with its address where it was unloaded."""
        if name not in self.hosts and self.unloaded.jobs:
            for unit in self.scope.units.of_host(name):
                number = self.scope.units.number(unit)
                if number is None or self.load_job(number) or number not in self.unloaded:
                    continue
                row = self.ledger.job(number)
                if row is not None and row.address:
                    self.address(row.address)
        return self.hosts.get(name)

    @property
    def urls_at_once(self) -> int:
        """Return how many URLs of a queue are read for a turn: 1 where others would be dropped."""
        return 1 if len(self.addresses) > self.limits.addresses_in_memory else self.limits.window

    def load_job(self, number: int) -> JobQueue | None:
        """Return a job, from its unloaded address where that had turns; None: it is not here."""
        if number in self.unloaded and not self.unloaded.is_fresh(number):
            self.load(self.unloaded.key(number))
        return self.jobs.get(number)

    def may_unload(self, address: AddressQueue) -> None:
        """Queue an address to be unloaded, where too many are in memory."""
        if len(self.addresses) > self.limits.addresses_in_memory:
            self.resting.append(address)

    def unload_resting(self) -> None:
        """Unload addresses that rest, while too many are in memory.

        Those that cannot be unloaded now are looked at again when what they are in is over.
        """
        most = self.limits.addresses_in_memory
        for _ in range(min(len(self.resting), UNLOADED_A_TICK)):
            address = self.resting.popleft()
            if len(self.addresses) > most and self.addresses.get(address.name) is address:
                self._unload(address)

    def _unload(self, address: AddressQueue) -> None:
        key = key_of(address.name)
        if not address.hosts or self.unloaded.has(key):
            return
        record = record_of(address, self.dirty)
        if record is None:
            return
        next_s, work, is_idle = due_s(address), self.work_left(address), False
        del self.addresses[address.name]
        numbers: list[int] = []
        for host in address.hosts.values():
            del self.hosts[host.name]
            for number, queue in host.jobs.items():
                del self.jobs[number]
                numbers.append(number)
                is_idle = is_idle or not queue.wants_turn
                _leave_wheel(queue)
            _leave_wheel(host)
        _leave_wheel(address)
        self.unloaded.keep(key, numbers, (next_s, work), record, is_idle=is_idle)
        if next_s < math.inf:
            self.turns.let_rest(key, next_s)

    def enter(self, number: int, address: str, urls: int, interval_ms: int) -> None:
        """Register a job at an address that has had no turn."""
        work = _work(urls, interval_ms, self._base_s)
        self.unloaded.enter(number, address, work, self.turns.now_s)

    def take_up(self, jobs: Iterable[OpenJob]) -> None:
        """Register the jobs of the process before this one; those without a URL may be done."""
        base_s = self._base_s
        numbers, keys, work = array("q"), array("q"), array("f")
        for job in jobs:
            if job.address:
                numbers.append(job.number)
                keys.append(key_of(job.address))
                work.append(_work(job.queued, job.interval_ms, base_s))
            if not job.queued:
                self.dirty[job.number] = None
        self.unloaded.fill(numbers, keys, work, self.turns.now_s)

    def grow(self, job: Job) -> None:
        """Note that an unloaded job has one URL more, at least."""
        number, unloaded = job.number, self.unloaded
        if unloaded.is_fresh(number):
            unloaded.grow(number, _work(1, job.interval_ms or 0, self._base_s))
        elif unloaded.is_idle(unloaded.key(number)):
            queue = self.load_job(number)
            if queue is not None:
                queue.has_more()
                self.turns.offer_job(queue)
                self.may_unload(queue.host.address)
        else:
            self._grown.add(number)

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

    def add_job(self, job: Job, host: HostQueue) -> JobQueue:
        """Take a job up, with the counters that the ledger has of it, and say where it is."""
        row = self.ledger.job(job.number) or JobRow(job, host.name, "", 0, 0, 0, False)
        if (row.host, row.address) != (host.name, host.address.name):
            self.ledger.place_job(job.number, host.name, host.address.name)
        queue = JobQueue(job, host, self._limit(job), row.pages, row.response_bytes)
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
            self.outage.forget(queue.host.address.name)

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

    def take_token_back(self, address: AddressQueue) -> None:
        """Note that the request to an address is over."""
        address.holder = None
        self.tokens_out -= 1

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

    def begin_first_turn(self, number: int) -> AddressQueue | None:
        """Bring an address into memory for its first turn, by one of its jobs.

        It has rested since the job came. None: it is in memory, or nothing of it is left.
        """
        row = self.ledger.job(number)
        if row is None or row.address in self.addresses or self.unloaded.has(key_of(row.address)):
            self.unloaded.leave(number)
            if row is not None:
                self._add_fresh_job(row, self.address(row.address))
            return None
        since_s = self.unloaded.since_s(number)
        address = self.address(row.address)
        self.unloaded.leave(number)
        self.arrivals.pop()
        address.arriving = False
        address.not_before_s = since_s + max(self.pace.base_s(None), address.first_rest_s)
        self.backing_off.resume(address, self.turns.now_s, self.pace.longest_s)
        if address.empty:
            self.forget_address_if_idle(address)
            return None
        return address

    def first_due_s(self, number: int) -> float:
        """Return when the address of a job has its first turn, if nothing asks for more rest."""
        return self.unloaded.since_s(number) + self.pace.base_s(None)

    def _add_fresh_jobs(self, address: AddressQueue) -> None:
        for row in self.ledger.jobs_at(address.name):
            if self.unloaded.leave(row.job.number):
                self._add_fresh_job(row, address)

    def _add_fresh_job(self, row: JobRow, address: AddressQueue) -> None:
        job = self.open_job(row.job.number)
        if job is not None and job.number not in self.jobs:
            self.turns.offer_job(self.add_job(job, self.host(row.host, address)))

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

    def _slow(self, host: HostQueue) -> None:
        """Apply a longer rest from the last request on; a shorter one from the next."""
        if host.address.last_end_s:
            since_s = host.address.last_end_s + host.own_rest_s
            host.not_before_s = max(host.not_before_s, since_s)

    def _limit(self, job: Job) -> int:
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

    @property
    def _base_s(self) -> float:
        """Return the interval of an address that nothing is known of."""
        return max(self.pace.base_s(None), LEAST_INTERVAL_S)


def _work(urls: int, interval_ms: int, base_s: float) -> float:
    """Return URLs times interval of one job that nothing is known of."""
    return max(urls, 1) * max(base_s, interval_ms / 1000) * 10


def _leave_wheel(sleeper: AddressQueue | HostQueue | JobQueue) -> None:
    """Take the object of an unloaded address, host or job out of the wheel."""
    if sleeper.resting is not None:
        sleeper.resting[0] = None
        sleeper.resting = None
