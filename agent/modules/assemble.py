"""Builds the handler of each module of the crawl: the one list of their dependencies.

    crawl = Crawl(ports, limits, ...)
    runner = InProcessRunner(CRAWL, crawl.make)

Invariant: after the runner was built, `crawl` can report its state, whatever the partitions are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import gmtime
from typing import Final, TypeVar

from agent.modules.counts import KindCounts, StopCounts
from agent.modules.dedup import Dedup
from agent.modules.dns.resolve import Resolve
from agent.modules.fetch import Fetch
from agent.modules.filter import Blocked, Filter
from agent.modules.frontier import CrawlState, Frontier, Wait
from agent.modules.host_languages import HostLanguages
from agent.modules.limits import CrawlLimits, Politeness
from agent.modules.parse import Parse
from agent.modules.report import Report
from agent.modules.robots.robots import Robots
from agent.modules.robots.robots_fetch import RulesFetch
from agent.modules.server_list.scope import Scope, scope_of
from agent.modules.server_list.seed import Seed
from agent.modules.store import Store
from agent.pipeline.handler import Handler
from agent.pipeline.ledger import Ledger
from agent.pipeline.partition import Partition
from agent.pipeline.ports import (
    Clock,
    EarlierCaptures,
    Fetcher,
    PageWorker,
    Reports,
    Resolver,
    RulesStore,
)
from agent.pipeline.shared_addresses import SharedRules
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Crawl", "CrawlPorts", "CrawlState"]

URGENT_BYTES: Final = 16_000_000  # so many bytes of pages do not wait for the next commit

H = TypeVar("H", bound=Handler)
Post = Callable[[str, object], None]


@frozen
class CrawlPorts:
    """The world."""

    ledger: Ledger
    fetcher: Fetcher
    resolver: Resolver
    worker: PageWorker
    reports: Reports
    clock: Clock
    earlier: EarlierCaptures | None = None  # None: every page is stored whole
    rules: RulesStore | None = None  # None: rules that have no room in memory are fetched again


@dataclass(slots=True)
class Crawl:
    """The handlers of one crawl.

    What the loop asks at each turn is written without generators: most turns bring one page.
    """

    ports: CrawlPorts
    politeness: Politeness
    limits: CrawlLimits
    agent_token: str
    blocked: Blocked
    stopped: StopCounts = field(default_factory=StopCounts)  # by filter and dedup
    skipped: StopCounts = field(default_factory=StopCounts)  # lines of lists
    given_up: StopCounts = field(default_factory=StopCounts)  # by the frontier
    denied: StopCounts = field(default_factory=StopCounts)  # by robots.txt
    kinds: KindCounts = field(default_factory=KindCounts)  # what each kind of links brings
    remarks: StopCounts = field(default_factory=StopCounts)  # what else a person should know
    shared: SharedRules = field(default_factory=dict)  # addresses that many sites share
    languages: HostLanguages = field(default_factory=HostLanguages)
    _scope: Scope | None = None  # the one of the start
    _frontiers: list[Frontier] = field(default_factory=list)
    _filters: list[Filter] = field(default_factory=list)
    _resolves: list[Resolve] = field(default_factory=list)
    _robots: list[Robots] = field(default_factory=list)
    _fetches: list[Fetch | RulesFetch] = field(default_factory=list)
    _parses: list[Parse] = field(default_factory=list)
    _stores: list[Store] = field(default_factory=list)
    _reports: list[Report] = field(default_factory=list)
    _seeds: list[Seed] = field(default_factory=list)

    def make(self, module: str, partition: Partition, post: Post) -> Handler:
        """Build the handler of a module's partition; `post` takes completions in."""
        ports, limits = self.ports, self.limits
        match module:
            case "seed":
                return _kept(self._seeds, Seed(ports.ledger, self._held()))
            case "filter":
                has_met = ports.ledger.has_met
                one = Filter(
                    self._held(),
                    limits,
                    self.blocked,
                    self.stopped,
                    self._year,
                    has_met,
                    self.languages,
                )
                return _kept(self._filters, one)
            case "dedup":
                return Dedup(ports.ledger, limits, self.stopped, self.kinds)
            case "resolve":
                answer = partial(post, "resolve.answer")
                resolve = Resolve(
                    ports.ledger,
                    ports.resolver,
                    ports.clock,
                    limits,
                    partition,
                    answer,
                    lambda: self.shared,
                )
                return _kept(self._resolves, resolve)
            case "frontier":
                frontier = Frontier(
                    ports.ledger,
                    self._held(),
                    self.politeness,
                    limits,
                    partition,
                    self.given_up,
                    self.remarks,
                    self.shared,
                    self.languages,
                )
                return _kept(self._frontiers, frontier)
            case "robots":
                strict = self.politeness.strict_robots
                robots = Robots(self.agent_token, strict, ports.clock, limits, ports.rules)
                return _kept(self._robots, robots)
            case _:
                return self._make_last(module, post)

    def _make_last(self, module: str, post: Post) -> Handler:
        ports, limits = self.ports, self.limits
        match module:
            case "rules_fetch":
                rules_fetch = RulesFetch(ports.fetcher, limits, partial(post, "rules_fetch.answer"))
                return _kept(self._fetches, rules_fetch)
            case "fetch":
                fetch = Fetch(ports.fetcher, limits, partial(post, "fetch.answer"), ports.earlier)
                return _kept(self._fetches, fetch)
            case "parse":
                return _kept(self._parses, Parse(ports.worker, partial(post, "parse.answer")))
            case "store":
                return _kept(self._stores, Store(ports.ledger, ports.earlier))
            case "report":
                report = Report(ports.ledger, ports.reports, self.denied, self.kinds)
                return _kept(self._reports, report)
            case _:
                raise KeyError(f"no module {module} in the crawl")

    def _held(self) -> Scope:
        """Return what the ledger says that the agent holds, one for all modules."""
        if self._scope is None:
            self._scope = scope_of(self.ports.ledger)
        return self._scope

    def _year(self) -> int:
        return gmtime(self.ports.clock.epoch_ms() / 1000).tm_year

    def retune(self, politeness: Politeness, limits: CrawlLimits, blocked: Blocked) -> None:
        """Take new settings during the crawl: paces, places, filters.

        Sizes of memories, and `robots.strict`, hold from the start of a process.
        """
        self.politeness, self.limits, self.blocked = politeness, limits, blocked
        for frontier in self._frontiers:
            frontier.retune(politeness, limits)
        for one in self._filters:
            one.retune(limits, blocked)
        for fetch in self._fetches:
            fetch.retune(limits)

    def set_shared(self, shared: SharedRules) -> None:
        """Take new rules of shared addresses; the next tick puts them in force."""
        self.shared = shared
        for frontier in self._frontiers:
            frontier.set_shared(shared)

    @property
    def shared_in_force(self) -> bool:
        """Return whether the rules of shared addresses that it has are in force."""
        return all(frontier.shared is self.shared for frontier in self._frontiers)

    @property
    def scope(self) -> Scope:
        """Return what the agent holds now."""
        return self._seeds[0].scope

    @property
    def shares_hosts(self) -> bool:
        """Return whether it has pieces of hosts that are split."""
        return self._seeds[0].shares_hosts

    @property
    def probes_finished(self) -> int:
        """Return how many probes were finished so far; only the difference means something."""
        return self._seeds[0].probes_finished

    @property
    def at_work(self) -> int:
        """Return how many requests and pages are with the fetcher and the page workers."""
        count = 0
        for fetch in self._fetches:
            count += fetch.in_flight
        for parse in self._parses:
            count += parse.at_work
        return count

    @property
    def paused(self) -> Message | None:
        """Return why nothing may be fetched now, as far as the modules know; None: it may."""
        for store in self._stores:
            if store.paused:
                return store.paused
        for report in self._reports:
            if report.paused:
                return report.paused
        return None

    @property
    def crowded(self) -> bool:
        """Return whether more comes in or waits to be read than memory has room for."""
        if self.ports.worker.crowded or self.ports.fetcher.crowded:
            return True
        for robots in self._robots:  # noqa: SIM110  # asked at each turn: no generator
            if robots.crowded:
                return True
        return False

    @property
    def urgent(self) -> bool:
        """Return whether so much was written that a commit should not wait."""
        size_bytes = 0
        for store in self._stores:
            size_bytes += store.bytes_since_commit
        return size_bytes >= URGENT_BYTES

    @property
    def waits_for_tick(self) -> bool:
        """Return whether a module continues its work at the next tick, though nothing comes."""
        robots, resolves = self._robots, self._resolves
        return any(one.goes_on for one in robots) or any(one.goes_on for one in resolves)

    def next_s(self, within_s: float) -> float:
        """Return when the next address has rested enough, if within so long; else `inf`."""
        next_s = math.inf
        for frontier in self._frontiers:
            next_s = min(next_s, frontier.next_s(within_s))
        return next_s

    def committed(self) -> None:
        """Take note of a commit."""
        for store in self._stores:
            store.bytes_since_commit = 0
        if self.ports.earlier is not None:
            self.ports.earlier.committed()

    def waits(self, limit: int) -> list[Wait]:
        """Return hosts that wait for their next request, the longest first."""
        found = [one for frontier in self._frontiers for one in frontier.waits(limit)]
        return sorted(found, key=lambda one: -one.due_s)[:limit]

    def state(self) -> CrawlState:
        """Return the present state of the crawl."""
        state = CrawlState(queued=self.ports.ledger.waiting(), paused=self.paused)
        for frontier in self._frontiers:
            one = frontier.state()
            state.jobs += one.jobs
            state.addresses += one.addresses
            state.told_to_wait += one.told_to_wait
            state.in_flight += one.in_flight
            state.under_way += one.under_way
            state.backing_off += one.backing_off
            state.backed_off += one.backed_off
        state.look_ups = sum(resolve.waiting for resolve in self._resolves)
        state.unanswered = sum(resolve.unanswered for resolve in self._resolves)
        return state


def _kept(handlers: list[H], handler: H) -> H:
    handlers.append(handler)
    return handler
