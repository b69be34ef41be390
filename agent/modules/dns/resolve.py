"""Finds the address of a host, once, and keeps an eye on it while the host is crawled.

A host is held here while it is looked up, and while the frontier has it at work (`begun`). Then it
passes its candidates on at once; when the address is out of date, the name is looked up again
behind their backs. An answer that still holds the address in use changes nothing (servers turn
their lists round); one that does not moves the host. An address that cannot be connected to is left
for the next one that the name has, each once; at the last one the host stays. All other hosts are
not held: where one of a job is, the ledger knows; one of no job leaves its place in the host cache,
16 bytes, until its look-up is out of date: the same units often come again in a new round, and a
name that does not exist need not be asked for again at once. Of those that were never looked up,
few are taken from the ledger at a time. Their URLs lie in the queues on disk, and no crash loses
them.

Invariant: at most one look-up of a host is under way, and at most `lookups` in all. A host of a
job is either placed, waiting for a look-up, or reported as failed.
Leaves to others: which addresses may be crawled at all (the resolver, which refuses the others).
Source: seed 000, 5.2.3 (Host Data Cache), 2.1 (few questions to outside servers); seed 002.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agent.modules.dns.host_cache import HostCache
from agent.modules.limits import CrawlLimits
from agent.modules.outage import Silence
from agent.modules.timing_wheel import TimingWheel
from agent.pipeline.handler import Input, Inputs, Output
from agent.pipeline.ledger import Ledger
from agent.pipeline.messages.hosts import (
    HostBegun,
    HostFailed,
    HostFound,
    LookUp,
    Moved,
    Placed,
    Unreached,
    pinned,
)
from agent.pipeline.messages.jobs import ListChanged
from agent.pipeline.messages.pages import Candidate
from agent.pipeline.messages.requests import Tick
from agent.pipeline.messages.robots import RulesFetched, RulesRedirected
from agent.pipeline.partition import Partition
from agent.pipeline.ports import Clock, Resolver
from agent.pipeline.shared_addresses import SharedRules, address_of, preferred_address
from shared.host_failures import HostFailure
from shared.urls import host_of

__all__ = ["Resolve"]

ASKED_AHEAD: Final = 2000
"""Hosts that wait for a look-up in memory; more of them stay in the ledger until there is room."""

TOLD_S: Final = 0.1
"""Seconds after which the time matters: look-ups hold for minutes."""

NOWHERE: Final = "its name had no address when it was looked up before"


NO_HOME: Final = "-"
"""Of a host that was brought back once: no address is called so."""


@dataclass(slots=True)
class _Host:
    """Entry of a host. `address` is "" until it has one."""

    name: str
    address: str = ""
    found: tuple[str, ...] = ()  # what the manager was told last
    expires_s: float = 0.0
    usable_until_s: float = 0.0  # the address, should no later look-up succeed
    looking: bool = False
    attempts: int = 0  # look-ups in a row that failed
    failed: str = ""  # why there is no address; until expires_s
    failure: HostFailure = HostFailure.NO_ADDRESS  # the same as a code
    begun: bool = False  # the frontier has it at work
    home: str = ""  # left though it had answered: gone back to, once, where no other answers
    unreached: frozenset[str] = frozenset()  # addresses that were left, or are to be
    jobs: set[int] = field(default_factory=set)
    rules: tuple[RulesRedirected, ...] = ()


class Resolve:
    """The module `resolve`."""

    def __init__(
        self,
        ledger: Ledger,
        resolver: Resolver,
        clock: Clock,
        limits: CrawlLimits,
        partition: Partition,
        answer: Callable[[LookUp], None],
        shared: Callable[[], SharedRules] = dict,
    ) -> None:
        """Take up the unfinished jobs of the ledger.

        answer: where a look-up's answer goes, to arrive at the input `answer`. shared: tells the
        addresses that many sites share.
        """
        self._ledger = ledger
        self._resolver = resolver
        self._clock = clock
        self._limits = limits
        self._partition = partition
        self._answer = answer
        self._shared = shared
        self._hosts: dict[str, _Host] = {}
        self._to_ask: deque[_Host] = deque()
        self._asking = 0
        self._silence = Silence(limits.offline_addresses, limits.offline_s)
        now = clock.monotonic_s()
        self._cache = HostCache(limits.hosts_in_memory, now)
        self._again: TimingWheel[_Host] = TimingWheel(now)
        # Jobs without an address that are not held here: looked for from the first tick on, when
        # everybody listens.
        self._unplaced: Iterator[list[int]] | None = None
        self._taken: deque[int] = deque()  # of them
        self._told_s = 0.0
        self._left_behind = True

    @property
    def waiting(self) -> int:
        """Return how many look-ups are under way or wait for their turn."""
        return self._asking + len(self._to_ask)

    @property
    def unanswered(self) -> int:
        """Return how many hosts have no address yet, because name servers did not answer."""
        return sum(1 for one in self._hosts.values() if one.attempts and not one.address)

    @property
    def goes_on(self) -> bool:
        """Return whether jobs are taken up, some at each tick."""
        return self._unplaced is not None or self._left_behind

    def inputs(self) -> Inputs:
        """Return the inputs by name."""
        return {
            "candidates": Input(Candidate, self.handle_candidates),
            "rules": Input(RulesRedirected, self.handle_rules),
            "begun": Input(HostBegun, self.handle_begun),
            "unreached": Input(Unreached, self.handle_unreached),
            "changed": Input(ListChanged, self.handle_changed),
            "answer": Input(LookUp, self.handle_answer),
            "tick": Input(Tick, self.handle_tick),
        }

    def wants_tick(self, tick: Tick) -> bool:
        """Return whether the time says anything new; while jobs are taken up, it always does."""
        return self.goes_on or tick.now_s - self._told_s >= TOLD_S

    def handle_candidates(self, batch: Sequence[Candidate]) -> Iterator[Output]:
        """Find the addresses of hosts that have something new in a job's queue."""
        # One message a job is enough: it says that there is something in the job's queue.
        for name, job in dict.fromkeys((one.host, one.job) for one in batch):
            yield from self._place(name, job)

    def _place(self, name: str, job: int) -> Iterator[Output]:
        """Place a job where its host is known to be; else find its address."""
        if name not in self._hosts:
            row = self._ledger.job(job)
            if row is not None and row.address:
                yield "placed", Placed(job, name, address_of(row.address))
                return
            if len(self._to_ask) >= ASKED_AHEAD:
                self._left_behind = True  # found again in the ledger
                return
        yield from self._meet(name, job)

    def _meet(self, name: str, job: int) -> Iterator[Output]:
        """Find the address of a job's host, at once or later."""
        host = self._host(name)
        host.jobs.add(job)
        if host.address:
            yield "placed", Placed(job, name, host.address)
        elif host.failed:
            yield "failed", HostFailed(name, host.failed, host.failure)
            host.jobs.clear()
        self._forget_if_idle(host)

    def handle_begun(self, batch: Sequence[HostBegun]) -> Iterator[Output]:
        """Watch the names of hosts that have turns."""
        now = self._clock.monotonic_s()
        for begun in batch:
            host = self._hosts.get(begun.host)
            if host is None:
                host = self._hosts[begun.host] = _Host(begun.host)
                remembered = self._cache.get(begun.host, now)
                if remembered is not None and remembered[0] == begun.address:
                    host.expires_s = remembered[1]
                    self._again.add(host, max(host.expires_s, now + self._limits.refresh_s))
            host.begun = True
            waiting = host.jobs.difference(begun.jobs)
            host.jobs.update(begun.jobs)
            if not host.address:
                host.address = begun.address
                # The look-up that they waited for may no longer tell of a change.
                for job in sorted(waiting):
                    yield "placed", Placed(job, host.name, host.address)
            host.usable_until_s = max(host.usable_until_s, now + self._limits.stale_s)
            if now >= host.expires_s:
                self._ask(host, first=True)

    def handle_unreached(self, batch: Sequence[Unreached]) -> Iterator[Output]:
        """Move hosts to another address where none of theirs can be connected to."""
        for one in batch:
            host = self._hosts.get(one.host)
            if host is None or host.address != one.address or not pinned(one.address):
                continue
            host.unreached |= {one.address}
            if one.answered and not host.home:
                host.home = one.address
            if host.found:
                yield from self._move_on(host)
            else:  # it was placed by what is remembered, which is one address
                self._ask(host, first=True)

    def _move_on(self, host: _Host) -> Iterator[Output]:
        """Move a host to its first address that was not tried in vain, if there is one left."""
        untried = [one for one in host.found if one not in host.unreached]
        if not untried and host.home in host.found and host.home != host.address:
            untried, host.home = [host.home], NO_HOME
        if untried:
            before, host.address = host.address, untried[0]
            yield "moved", Moved(host.name, host.address, before)

    def handle_rules(self, batch: Sequence[RulesRedirected]) -> Iterator[Output]:
        """Find the addresses that redirects of robots.txt lead to."""
        for one in batch:
            host = self._host(one.host)
            if host.address:
                yield "rules", replace(one, address=host.address)
            elif host.failed:
                yield "rules_lost", _lost(one, host.failed)
            else:
                host.rules += (one,)
            self._forget_if_idle(host)

    def _host(self, name: str) -> _Host:
        host, now = self._hosts.get(name), self._clock.monotonic_s()
        if host is None:
            host = self._hosts[name] = _Host(name)
            remembered = self._cache.get(name, now)
            if remembered is not None:
                host.address, host.expires_s = remembered
                host.usable_until_s = host.expires_s
                if not host.address:
                    host.failed, host.failure = NOWHERE, self._cache.failure_of(name, now)
        if now >= host.expires_s:
            self._ask(host)
        return host

    def _ask(self, host: _Host, *, first: bool = False) -> None:
        if host.looking:
            return
        host.looking = True
        host.failed = ""
        if first:
            self._to_ask.appendleft(host)
        else:
            self._to_ask.append(host)
        self._ask_more()

    def _take_from_ledger(self) -> Iterator[Output]:
        """Take jobs without an address up, as many as will soon be asked for."""
        if self._unplaced is None and self._left_behind:
            self._unplaced, self._left_behind = self._ledger.unplaced_jobs(), False
        if self._unplaced is not None and not self._taken:
            found = next(self._unplaced, None)
            if found is None:
                self._unplaced = None
            else:
                self._taken.extend(found)
        while self._taken and len(self._to_ask) < ASKED_AHEAD:
            number = self._taken.popleft()
            row = self._ledger.job(number)
            if row is None or row.address or row.finished:
                continue
            name = host_of(row.job.unit)
            if self._partition.holds(name):
                yield from self._meet(name, number)

    def _ask_more(self) -> None:
        while self._to_ask and self._asking < self._limits.lookups:
            self._asking += 1
            self._resolver.start(self._to_ask.popleft().name, self._answer)

    def handle_answer(self, batch: Sequence[LookUp]) -> Iterator[Output]:
        """Note the answers of look-ups, and begin those that wait."""
        now = self._clock.monotonic_s()
        for answer in batch:
            self._asking -= 1
            host = self._hosts.get(answer.host)
            if host is None:
                continue  # its jobs left the list meanwhile
            host.looking = False
            if answer.temporary and not answer.addresses:
                self._silence.failed(answer.host, now)
            else:
                self._silence.answered()
            if answer.addresses:
                yield from self._found(host, answer, now)
            else:
                yield from self._not_found(host, answer, now)
        self._ask_more()

    def _found(self, host: _Host, answer: LookUp, now: float) -> Iterator[Output]:
        limits = self._limits
        ttl = min(max(answer.ttl_s, limits.ttl_least_s), limits.ttl_most_s)
        host.attempts, host.expires_s, host.usable_until_s = 0, now + ttl, now + limits.stale_s
        if answer.addresses != host.found:
            host.found = answer.addresses
            yield "found", HostFound(host.name, answer.addresses)
        before = host.address
        host.unreached = host.unreached.intersection(answer.addresses)
        if before in host.unreached:
            yield from self._move_on(host)
        elif before not in answer.addresses:
            untried = [one for one in answer.addresses if one not in host.unreached]
            among = untried or answer.addresses
            host.address = preferred_address(host.name, among, self._shared())
            if before:
                yield "moved", Moved(host.name, host.address, before)
            else:
                for job in sorted(host.jobs):
                    yield "placed", Placed(job, host.name, host.address, answer.took_ms)
        for one in host.rules:
            yield "rules", replace(one, address=host.address)
        host.rules = ()
        if not self._forget_if_idle(host):
            # Without a candidate that asks for it, a name is not looked up as often as it may say.
            self._again.add(host, now + max(ttl, limits.refresh_s))

    def _not_found(self, host: _Host, answer: LookUp, now: float) -> Iterator[Output]:
        limits = self._limits
        host.attempts = min(host.attempts + 1, limits.lookup_retries + 1)
        host.expires_s = now + limits.lookup_retry_s * 4.0 ** (host.attempts - 1)
        usable = bool(host.address) and now < host.usable_until_s
        more = host.attempts <= limits.lookup_retries or self._silence.is_ours(now)
        if usable or (answer.temporary and more):
            self._again.add(host, host.expires_s)
            return
        # Negative cache: for a while no look-up asks for this name again.
        host.expires_s = now + limits.ttl_least_s
        host.failed, host.failure = answer.reason or "no address", answer.failure
        host.found = ()
        yield "found", HostFound(host.name, ())
        if host.address:
            before, host.address = host.address, ""
            yield "moved", Moved(host.name, "", before, host.failed, host.failure)
        else:
            yield "failed", HostFailed(host.name, host.failed, host.failure)
        host.jobs.clear()
        host.attempts = 0
        for one in host.rules:
            yield "rules_lost", _lost(one, host.failed)
        host.rules = ()
        self._forget_if_idle(host)

    def handle_changed(self, batch: Sequence[ListChanged]) -> Iterator[Output]:
        """Forget hosts whose last jobs have ended, and place crawls that continue their probes."""
        for change in batch:
            for job in (*change.ended, *change.done):
                host = self._hosts.get(host_of(job.unit))
                if host is not None:
                    host.jobs.discard(job.number)
                    self._forget_if_idle(host)
            for job in change.probed:
                name = host_of(job.unit)
                if self._partition.holds(name):
                    yield from self._place(name, job.number)

    def _forget_if_idle(self, host: _Host) -> bool:
        if host.looking or host.rules or (host.begun and host.jobs):
            return False
        if host.jobs and not host.address and not host.failed:
            return False
        self._hosts.pop(host.name, None)
        now = self._clock.monotonic_s()
        if now < host.expires_s and (host.address or host.failed):
            self._cache.put(host.name, host.address, host.expires_s, now, host.failure)
        return True

    def handle_tick(self, batch: Sequence[Tick]) -> Iterator[Output]:
        """Look names up again that are out of date, and jobs that have no address yet."""
        tick = batch[-1]
        self._told_s = tick.now_s
        for host in self._again.advance(tick.now_s):
            if self._hosts.get(host.name) is not host or tick.now_s < host.expires_s:
                continue
            if host.jobs or host.rules:
                self._ask(host)
            else:
                self._forget_if_idle(host)
        yield from self._take_from_ledger()
        self._ask_more()


def _lost(one: RulesRedirected, reason: str) -> RulesFetched:
    return RulesFetched(one.rules_of, "", 0, b"", f"{one.host}: {reason}")
