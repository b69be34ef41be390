"""Message handler of the frontier.

A tick is the only moment at which a turn begins, but for one: a URL that robots.txt forbids gives
its turn to the next one at once. So a handler of a change between two ticks (of the list, of a
host's address) need not fear that a request starts meanwhile.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Final, TypeVar

from agent.modules.counts import StopCounts
from agent.modules.frontier.backoff import BackedOff
from agent.modules.frontier.completion import JobCompletion
from agent.modules.frontier.crawl_delay import Pace
from agent.modules.frontier.dispatch import Starts
from agent.modules.frontier.host_move import HostMoves
from agent.modules.frontier.host_waits import Wait, waits
from agent.modules.frontier.queues import JobQueue
from agent.modules.frontier.registry import NO_RULES, Registry
from agent.modules.frontier.request_end import NO_CONNECTION, Endings
from agent.modules.frontier.robots_effects import Rulings
from agent.modules.frontier.rule_changes import RuleChanges
from agent.modules.host_languages import HostLanguages
from agent.modules.limits import CrawlLimits, Politeness
from agent.modules.server_list.scope import Scope
from agent.pipeline.handler import Input, Inputs, Output
from agent.pipeline.ledger import Ledger
from agent.pipeline.messages.hosts import HandedOver, HostBegun, Moved, Placed, Unreached
from agent.pipeline.messages.jobs import Job, ListChanged, UnitClosed
from agent.pipeline.messages.pages import Processed
from agent.pipeline.messages.requests import Denied, FetchAnswer, Tick
from agent.pipeline.messages.robots import RulesDue, RulesKnown, RulesRedirected
from agent.pipeline.partition import Partition
from agent.pipeline.shared_addresses import SharedRules
from shared.messages import Message
from shared.urls import host_of

__all__ = ["CrawlState", "Frontier"]

DENIALS_A_TICK: Final = 100  # URLs that robots.txt forbids cost no rest, but time: up to 5 ms


M = TypeVar("M")


def _then_begun(
    handle: Callable[[Frontier, Sequence[M]], Iterable[Output]],
) -> Callable[[Frontier, Sequence[M]], Iterator[Output]]:
    """Make a method of an input report the hosts that begin in it, behind all else."""

    @wraps(handle)
    def handle_then_begun(self: Frontier, batch: Sequence[M]) -> Iterator[Output]:
        yield from handle(self, batch)
        if self._registry.begun:
            yield from self._report_begun()

    return handle_then_begun


@dataclass(slots=True)
class CrawlState:
    """Activity, for the status and the sync. The frontier knows the upper part."""

    jobs: int = 0  # placed and not finished
    addresses: int = 0
    in_flight: int = 0  # requests, each to another address: tokens that are out
    under_way: int = 0  # pages fetched or being fetched, not kept yet
    backing_off: int = 0  # addresses that rest longer because of errors, 429, 503 or Retry-After
    backed_off: tuple[BackedOff, ...] = ()  # some of them
    told_to_wait: tuple[BackedOff, ...] = ()  # by hosts that others fetch from too

    queued: int = 0  # URLs of all jobs, those under way too
    look_ups: int = 0
    unanswered: int = 0  # hosts without an address, as name servers did not answer; asked again
    paused: Message | None = None  # why nothing is fetched, as far as the modules know


class Frontier:
    """The module `frontier`."""

    def __init__(
        self,
        ledger: Ledger,
        scope: Scope,
        politeness: Politeness,
        limits: CrawlLimits,
        partition: Partition,
        given_up: StopCounts,
        remarks: StopCounts,
        shared: SharedRules = NO_RULES,
        languages: HostLanguages | None = None,
    ) -> None:
        """Take up the unfinished jobs of the ledger whose addresses this partition holds."""
        self._partitions = partition.count
        limits = replace(limits, parallel=max(1, limits.parallel // partition.count))
        self._registry = registry = Registry(scope, ledger, limits, Pace(politeness), shared)
        registry.languages = languages or registry.languages
        self._starts = Starts(registry, given_up)
        self._rulings = Rulings(registry, politeness, remarks)
        self._endings = Endings(registry, given_up, self._rulings)
        self._finishing = JobCompletion(registry, given_up)
        self._moving = HostMoves(registry, partition)
        self._rule_changes = RuleChanges(registry, self._moving, partition)
        self._denials_left = DENIALS_A_TICK
        ours = ledger.open_jobs()
        if partition.count > 1:
            ours = (one for one in ours if not one.address or partition.holds(one.address))
        registry.address_memory.take_up(ours)

    def inputs(self) -> Inputs:
        """Return the inputs by name."""
        return {
            "placed": Input(Placed, self.handle_placed),
            "moved": Input(Moved, self.handle_moved),
            "handed": Input(HandedOver, self.handle_handed),
            "changed": Input(ListChanged, self.handle_changed),
            "tick": Input(Tick, self.handle_tick),
            "rules": Input(RulesRedirected, self.handle_rules),
            "rules_known": Input(RulesKnown, self.handle_rules_known),
            "denied": Input(Denied, self.handle_denied),
            "ended": Input(FetchAnswer, self.handle_ended),
            "kept": Input(Processed, self.handle_kept),
        }

    def retune(self, politeness: Politeness, limits: CrawlLimits) -> None:
        """Take new settings; rests that have begun keep their length."""
        registry = self._registry
        limits = replace(limits, parallel=max(1, limits.parallel // self._partitions))
        registry.limits = limits
        registry.pace.politeness = politeness
        self._rulings.politeness = politeness
        registry.use_page_limits()

    def set_shared(self, shared: SharedRules) -> None:
        """Take new rules of shared addresses; the next tick puts them in force."""
        self._rule_changes.wanted = shared

    @property
    def shared(self) -> SharedRules:
        """Return the rules of shared addresses in force."""
        return self._registry.gates.rules

    def next_s(self, within_s: float) -> float:
        """Return when the next rest is over, as far as that is within so long; else `inf`."""
        next_s, first_s = self._registry.turns.next_s(within_s), self._starts.first_due_s()
        now_s = self._registry.turns.now_s
        # One that is due already waits for a connection, and no tick brings that.
        return min(next_s, first_s) if now_s < first_s <= now_s + within_s else next_s

    def state(self) -> CrawlState:
        """Return what the status shows; costs the same however much there is."""
        registry = self._registry
        return CrawlState(
            jobs=len(registry.jobs) + registry.unloaded.jobs,
            addresses=len(registry.addresses) + registry.unloaded.addresses,
            in_flight=registry.tokens_out,
            under_way=registry.under_way,
            backing_off=len(registry.backing_off),
            backed_off=registry.backing_off.last(),
            told_to_wait=tuple(registry.told_to_wait.values()),
        )

    def waits(self, limit: int) -> list[Wait]:
        """Return hosts that wait for their next request, the longest first."""
        return waits(self._registry, limit)

    def _report_begun(self) -> Iterator[Output]:
        for host in self._registry.begun:
            if host.jobs:
                yield "begun", HostBegun(host.name, host.address.address, tuple(host.jobs))
        self._registry.begun.clear()

    @_then_begun
    def handle_tick(self, batch: Sequence[Tick]) -> Iterator[Output]:
        """Finish jobs of which nothing is left, and begin the requests whose turn it is."""
        self._starts.begin_tick(batch[-1])
        self._denials_left = DENIALS_A_TICK
        yield from self._rule_changes.apply()
        yield from self._finishing.finished()
        self._registry.address_memory.unload_resting()
        yield from self._starts.dispatch()

    @_then_begun
    def handle_placed(self, batch: Sequence[Placed]) -> Iterator[Output]:
        """Take in jobs whose hosts have an address, or more in their queues."""
        registry = self._registry
        for one in batch:
            clock = registry.gates.clock(one.address, one.host)
            placed = one if clock == one.address else replace(one, address=clock)
            known = registry.jobs.get(placed.job)
            if known is not None and known.is_at(placed.host, placed.address):
                self._has_grown(known)  # nearly always
                continue
            job = registry.open_job(placed.job)
            if job is None:
                continue
            if placed.lookup_ms is not None:
                registry.note_lookup(placed.host, placed.lookup_ms)
            if registry.unloaded.is_at(placed.job, placed.address):
                registry.address_memory.grow(job)
                continue
            host = registry.address_memory.load_host(placed.host)
            if host is not None and host.address.name != placed.address and not host.leaves_to:
                # Its address was forgotten by resolve, and found again elsewhere.
                before = host.address.name
                yield from self._moving.moved(Moved(placed.host, placed.address, before))
            if self._moving.is_expected(placed, job):
                continue
            if (
                host is None
                and placed.job not in registry.jobs
                and not registry.has(placed.address)
            ):
                registry.ledger.place_job(placed.job, placed.host, placed.address)
                urls = registry.ledger.queued(placed.job)
                registry.address_memory.enter(
                    placed.job, placed.address, urls, job.interval_ms or 0
                )
                continue
            host = registry.host(placed.host, registry.address(placed.address))
            self._has_grown(registry.jobs.get(placed.job) or registry.add_job(job, host))

    def _has_grown(self, queue: JobQueue) -> None:
        queue.has_more()
        self._registry.turns.offer_job(queue)
        self._registry.address_memory.may_unload(queue.host.address)

    @_then_begun
    def handle_moved(self, batch: Sequence[Moved]) -> Iterator[Output]:
        """Move hosts to other addresses."""
        clock = self._registry.gates.clock
        for move in batch:
            yield from self._moving.moved(
                replace(
                    move,
                    address=clock(move.address, move.host),
                    before=clock(move.before, move.host),
                )
            )

    @_then_begun
    def handle_handed(self, batch: Sequence[HandedOver]) -> Iterator[Output]:
        """Take over hosts that have left their old addresses."""
        clock = self._registry.gates.clock
        for message in batch:
            yield from self._moving.handed(
                replace(message, address=clock(message.address, message.host))
            )

    @_then_begun
    def handle_changed(self, batch: Sequence[ListChanged]) -> Iterator[Output]:
        """Apply changes of the scope to the jobs."""
        registry = self._registry
        for change in batch:
            for job in change.altered:
                registry.alter(job)
            if change.last:
                registry.unloaded.forget_room()
            if change.begun:
                registry.fresh.append(array("q", [job.number for job in change.begun]))
            registry.dirty.update((job.number, None) for job in change.woken)
            for job in change.done:
                yield from self._drop(job)
            for job in change.ended:
                yield from self._end(job, change)

    def _drop(self, job: Job) -> Iterator[Output]:
        queue = self._registry.jobs.get(job.number)
        if queue is not None:
            self._registry.drop_job(queue)
            yield from self._moving.hand_over_if_quiet(queue.host)
        else:
            self._registry.address_memory.drop_unloaded(job.number)

    def _end(self, job: Job, change: ListChanged) -> Iterator[Output]:
        # Of a job that is on its way between two addresses, who gets it says that it is closed.
        queue = self._registry.jobs.get(job.number)
        if queue is not None and job.number not in change.closed:
            host = queue.host
            closed = UnitClosed(job.number, job.unit, host.name)
            if host.in_flight:
                host.address.closing += (closed,)
            else:
                yield "closed", closed
        elif (
            self._registry.address_memory.has_unloaded(job.number)
            and job.number not in change.closed
        ):
            yield "closed", UnitClosed(job.number, job.unit, host_of(job.unit))
        yield from self._drop(job)

    @_then_begun
    def handle_rules(self, batch: Sequence[RulesRedirected]) -> Iterable[Output]:
        """Queue the redirected robots.txt of hosts at the addresses they lead to."""
        registry = self._registry
        for one in batch:
            address = registry.address(registry.gates.clock(one.address, host_of(one.url)))
            address.ask_for(
                RulesDue(
                    one.rules_of,
                    one.address,
                    one.url,
                    one.hop,
                    one.round,
                    one.kind,
                    chain=one.chain,
                    clock=address.name,
                )
            )
            registry.turns.offer_address(address)
        return ()

    @_then_begun
    def handle_rules_known(self, batch: Sequence[RulesKnown]) -> Iterator[Output]:
        """Apply the rules of hosts: their URLs may have turns."""
        for known in batch:
            self._registry.address_memory.load_host(known.host)
            self._rulings.known(known)
            yield from self._let_go(known.host)

    @_then_begun
    def handle_denied(self, batch: Sequence[Denied]) -> Iterator[Output]:
        """Give back the turns of URLs that robots.txt forbids, and use them."""
        for denied in batch:
            yield from self._endings.denied(denied)
            yield from self._let_go(denied.host)
        self._denials_left -= len(batch)
        if self._denials_left > 0:
            yield from self._starts.dispatch()

    @_then_begun
    def handle_ended(self, batch: Sequence[FetchAnswer]) -> Iterator[Output]:
        """Give back the turns of requests, and begin the rests of their addresses."""
        hosts = self._registry.hosts
        for ended in batch:
            due = ended.due
            for unit in self._endings.ended(due, ended):
                yield "closed", unit
            if ended.outcome in NO_CONNECTION and self._endings.is_unreached(due, ended):
                answered = self._registry.outage.is_witness(due.address)
                yield "unreached", Unreached(due.host, due.address, answered)
            host = hosts.get(due.host)
            if host is not None and host.leaves_to:
                yield from self._moving.hand_over_if_quiet(host)

    @_then_begun
    def handle_kept(self, batch: Sequence[Processed]) -> Iterator[Output]:
        """Forget URLs whose pages lie in a segment."""
        hosts = self._registry.hosts
        for kept in batch:
            self._endings.kept(kept)
            host = hosts.get(kept.host)
            if host is not None and host.leaves_to:
                yield from self._moving.hand_over_if_quiet(host)

    def _let_go(self, name: str) -> Iterator[Output]:
        host = self._registry.hosts.get(name)
        if host is not None and host.leaves_to:
            yield from self._moving.hand_over_if_quiet(host)
