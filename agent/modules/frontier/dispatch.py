"""Dispatch of requests: the clock, the wait after a gap, one turn for each ready address.

A gap is any time in which another agent may have been given our addresses, or in which time was
not counted: before the first tick, while fetching was not allowed, or when the process stood still.
After a gap every address first rests for one full interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Final

from agent.modules.counts import StopCounts
from agent.modules.frontier.gates import Gate
from agent.modules.frontier.queues import AddressQueue, HostQueue, JobQueue
from agent.modules.frontier.registry import Registry
from agent.modules.frontier.scheduler import Sleeper
from agent.modules.limits import OUTSIDE_SCOPE
from agent.modules.outage import ASKED
from agent.modules.timing_wheel import STEP_S
from agent.pipeline.handler import Output
from agent.pipeline.ledger import QueuedUrl
from agent.pipeline.link_kinds import LinkKind
from agent.pipeline.messages.pages import RULES_DEPTH
from agent.pipeline.messages.requests import Due, Tick
from agent.pipeline.messages.robots import RulesDue
from agent.pipeline.shared_addresses import address_of
from shared.urls import canonical

__all__ = ["Starts"]

ARRIVALS_A_TICK: Final = 2000  # addresses: a list of a million comes at once, and costs 5 us each

LOOKED_AT: Final = 5000
"""Ready addresses of which those are chosen that show best whether our network is back: 6 ms."""

LISTS: Final = frozenset((LinkKind.FEED, LinkKind.SITEMAP))
"""Kinds of links that stand on no page."""

UNTIL_KEPT_S: Final = 1.0
"""Seconds between two looks whether a page is stored to which a redirect leads back."""


class Starts:
    """Begins requests."""

    def __init__(self, registry: Registry, given_up: StopCounts) -> None:
        self._registry = registry
        self._given_up = given_up
        self._fetching = False
        self._crowded = False
        self._gap = 0
        self._resumed_s = 0.0
        self._last: Tick | None = None

    def begin_tick(self, tick: Tick) -> None:
        """Move the clock, and offer turns to addresses that have rested enough."""
        self._note_gap(tick)
        self._crowded = tick.crowded
        self._registry.backing_off.tell_time(tick)
        registry, turns = self._registry, self._registry.turns
        awake = turns.advance(tick.now_s)
        if len(awake) + len(turns.ready) + registry.tokens_out > registry.limits.parallel:
            awake.sort(key=self._rank)
        for _ in range(min(len(registry.arrivals), ARRIVALS_A_TICK)):
            address = registry.arrivals.popleft()
            address.arriving = False
            address.gap = self._gap
            rest_s = max(registry.pace.base_s(None), address.first_rest_s)
            address.not_before_s = tick.now_s + rest_s
            registry.backing_off.resume(address, tick.now_s, registry.pace.longest_s)
            self._look_at(address)
        for sleeper in awake:
            match sleeper:
                case JobQueue():
                    turns.offer_job(sleeper)
                case HostQueue():
                    turns.offer_host(sleeper)
                    registry.forget_if_idle(sleeper)
                case AddressQueue():
                    self._look_at(sleeper)
                case Gate():
                    turns.offer_gate(sleeper)
                case _ if registry.unloaded.has(sleeper):
                    self._offer_unloaded(sleeper)

    def _offer_unloaded(self, key: int) -> None:
        """See to the turn of an address that is not in memory."""
        turns, gate = self._registry.turns, self._registry.unloaded.gates.get(key)
        if gate is None:
            turns.ready.append(key)
        else:
            gate.ring.setdefault(key, None)
            turns.offer_gate(gate)

    def _rank(self, sleeper: Sleeper | int) -> tuple[int, float]:
        """Return by what sleepers have their turns: the moment, then the work that is left."""
        registry = self._registry
        if isinstance(sleeper, int):
            head = registry.unloaded.head(sleeper)
            return (0, 0.0) if head is None else (math.ceil(head.due_s / STEP_S), -head.work)
        match sleeper:
            case Gate():
                return math.ceil(sleeper.not_before_s / STEP_S), 0.0
            case JobQueue():
                address = sleeper.host.address
            case HostQueue():
                address = sleeper.address
            case _:
                address = sleeper
        at_s = max(sleeper.not_before_s, address.not_before_s)
        return math.ceil(at_s / STEP_S), -registry.work_left(address)

    def dispatch(self) -> Iterator[Output]:
        """Begin one request at each address that is ready."""
        if not self._fetching or self._crowded:
            return
        registry, turns = self._registry, self._registry.turns
        is_ours = registry.outage.is_ours(turns.now_s)
        ready = self._few() if is_ours else self._all_ready()
        for address in ready:
            address.listed = False
            started = self._start(address)
            if started is None:
                self._look_at(address)
            if address.gate is not None:
                turns.offer_gate(address.gate)
            if started is not None:
                yield started

    def first_due_s(self) -> float:
        """Return when the next address has its first turn; `inf`: none waits for its first."""
        registry = self._registry
        number = registry.unloaded.next_number()
        if not number:
            return math.inf
        rested_s = self._resumed_s + registry.pace.base_s(None)  # after the last gap
        return max(registry.address_memory.first_due_s(number), rested_s)

    @property
    def _is_full(self) -> bool:
        """Return whether no request can begin: each connection is in use, or workers are behind."""
        registry, limits = self._registry, self._registry.limits
        return registry.tokens_out >= limits.parallel or registry.under_way >= limits.under_way

    def _all_ready(self) -> Iterator[AddressQueue]:
        """Take out the ready addresses, in the order in which they became ready, while one may be
        asked; those that wait for their first turn are among them."""
        registry, turns = self._registry, self._registry.turns
        most, fresh = len(turns.ready), ARRIVALS_A_TICK
        while not self._is_full:
            first_s = self.first_due_s() if fresh else math.inf
            if most and self._ready_since_s() <= first_s:
                most -= 1
                address = self._take_ready()
            elif first_s <= turns.now_s:
                fresh -= 1
                address = registry.address_memory.begin_first_turn(registry.unloaded.next_number())
            elif most:
                most -= 1
                address = self._take_ready()
            else:
                return
            if address is not None:
                yield address

    def _ready_since_s(self) -> float:
        """Return since when the next ready address is ready."""
        one = self._registry.turns.ready[0]
        if isinstance(one, AddressQueue | Gate):
            return one.not_before_s
        head = self._registry.unloaded.head(one)
        return 0.0 if head is None else head.due_s

    def _take_ready(self) -> AddressQueue | None:
        """Take out the next ready address, and bring it into memory; None: it is not ready now."""
        return self._load_ready(self._registry.turns.ready.popleft())

    def _load_ready(self, one: AddressQueue | Gate | int) -> AddressQueue | None:
        if isinstance(one, AddressQueue):
            return one
        if isinstance(one, Gate):
            return self._take_from(one)
        address = self._registry.address_memory.load(one)
        if address is None or not address.listed:
            return None
        self._registry.turns.ready.pop()  # `load` offered it
        return address

    def _take_from(self, gate: Gate) -> AddressQueue | None:
        """Take out the next clock at a gate, and bring it into memory; None: none is ready."""
        gate.listed = False
        while gate.ring and gate.not_before_s <= self._registry.turns.now_s:
            key = next(iter(gate.ring))
            address = gate.ring.pop(key) or self._registry.address_memory.load(key)
            if address is None:
                continue
            gate.ring.pop(key, None)  # `load` offered it
            if gate.rule is None:  # its address is one clock again
                address.gate = None
                self._registry.gates.forget(gate)
            return address
        self._registry.turns.offer_gate(gate)
        return None

    def _few(self) -> Iterator[AddressQueue]:
        """Take out those that show best whether our network is back, where it is time to ask."""
        registry, outage = self._registry, self._registry.outage
        if not outage.may_ask(registry.turns.now_s):
            return
        asked = 0
        for one in sorted(self._candidates(), key=self._evidence):
            if asked == ASKED or self._is_full:
                return
            registry.turns.ready.remove(one)
            address = self._load_ready(one)
            if address is not None:
                asked += 1
                yield address

    def _candidates(self) -> list[AddressQueue | Gate | int]:
        """Return the first ready addresses; those before their first turn if others are too few."""
        registry = self._registry
        found = list(islice(registry.turns.ready, LOOKED_AT))
        while len(found) < ASKED and (number := registry.unloaded.next_number()):
            address = registry.address_memory.begin_first_turn(number)
            if address is not None:
                registry.turns.offer_address(address)
                found += [address] if address.listed and address.gate is None else []
        return found

    def _evidence(self, one: AddressQueue | Gate | int) -> tuple[bool, float]:
        """Return by what addresses are chosen to show that our network is back."""
        outage = self._registry.outage
        if not isinstance(one, int):
            return not outage.is_witness(one.address), one.strikes
        head = self._registry.unloaded.head(one)
        if head is None:
            return True, math.inf  # it was loaded meanwhile
        return not outage.is_witness(address_of(head.name)), head.strikes

    def _note_gap(self, tick: Tick) -> None:
        last, self._last = self._last, tick
        if last is None:
            still = True
        else:
            # Two clocks: the one stands still while the machine sleeps, the other may be set.
            passed_s = max(tick.now_s - last.now_s, (tick.epoch_ms - last.epoch_ms) / 1000)
            still = passed_s > self._registry.limits.gap_s
        if tick.fetching and (still or not self._fetching):
            self._gap += 1
            self._resumed_s = tick.now_s
        self._fetching = tick.fetching

    def _look_at(self, address: AddressQueue) -> None:
        self._registry.turns.offer_address(address)
        self._registry.forget_address_if_idle(address)
        self._registry.address_memory.may_unload(address)

    def _start(self, address: AddressQueue) -> Output | None:
        now = self._registry.turns.now_s
        gate = address.gate
        if not address.wants_turn:
            return None
        if gate is not None and (gate.waits_for or gate.not_before_s > now):
            return None
        if address.gap != self._gap:
            address.gap = self._gap
            rested_s = self._resumed_s + max(self._registry.pace.base_s(None), address.first_rest_s)
            address.end_burst()
            address.not_before_s = max(address.not_before_s, rested_s)
        if address.again is not None:
            started = self._give(address, address.again)
            if started is not None:
                return started
            address.end_burst()
        if address.not_before_s > now:
            return None
        while address.rules:
            rules = address.rules.popleft()
            if self._registry.scope.units.of_host(rules.host):
                self._registry.give_token(address, rules)
                return "rules_due", rules
        while address.turns.first is not None:
            host = address.turns.popleft()
            host.listed = False
            if self._registry.hosts.get(host.name) is not host or host.leaves_to:
                continue
            started = self._give(address, host) if host.not_before_s <= now else None
            self._registry.turns.offer_host(host)
            if started is not None:
                return started
        return None

    def _give(self, address: AddressQueue, host: HostQueue) -> Output | None:
        """Give a turn to a host; None: it could not use it."""
        registry, now = self._registry, self._registry.turns.now_s
        if host.rules == "asked" or host.leaves_to:
            return None
        while (job := host.turns.first) is not None:
            if job.wants_turn and job.not_before_s <= now:
                expired = now >= host.rules_until_s and not host.rules_fresh
                if host.rules == "unknown" or expired:
                    lookup_ms = registry.lookups_ms.pop(host.name, None)
                    rules_due = _ask_for_rules(address, host, job, lookup_ms)
                    registry.give_token(address, rules_due)
                    return "rules_due", rules_due
                url = job.next_url(
                    now,
                    registry.ledger,
                    registry.limits.window,
                    registry.due_s,
                    registry.address_memory.urls_at_once,
                )
                if url is not None and not self._is_inside(host.name, url):
                    # Queued under another scope; the turn is the next URL's.
                    self._drop(job, url)
                    continue
                if url is not None and url.chain and job.is_under_way(url):
                    job.postpone(url, now + UNTIL_KEPT_S)
                elif url is not None:
                    self._end_turn(host, job)
                    registry.taken(job, url)
                    due = _due(address, host, job, url)
                    registry.give_token(address, due)
                    # Behind the token: without it the address would be ready at once.
                    registry.turns.offer_job(job)
                    return "due", due
                registry.dirty[job.job.number] = None  # perhaps that was all
            self._end_turn(host, job)
            registry.turns.offer_job(job)
        return None

    def _is_inside(self, host: str, url: QueuedUrl) -> bool:
        """Return whether the scope of the crawl has a URL; what is never fetched always is.

        What a sitemap lists was queued before any page told its host's language.
        """
        if url.depth == RULES_DEPTH:
            return True
        scope, language = self._registry.limits.scope, ""
        if scope.has_languages and url.link_kind in LISTS:
            language = self._registry.languages.language_of(host)
        return scope.decide(url.url, language).is_inside

    def _drop(self, job: JobQueue, url: QueuedUrl) -> None:
        """Forget a URL that the scope of the crawl excludes now."""
        self._registry.ledger.remove(job.job.number, url.position)
        self._registry.dirty[job.job.number] = None
        self._given_up.add(OUTSIDE_SCOPE, url.url)

    def _end_turn(self, host: HostQueue, job: JobQueue) -> None:
        host.turns.popleft()
        job.listed = False


def _ask_for_rules(
    address: AddressQueue, host: HostQueue, job: JobQueue, lookup_ms: float | None
) -> RulesDue:
    host.rules = "asked"
    return RulesDue(
        host.name,
        address.address,
        canonical(host.name) + "robots.txt",
        0,
        job.job.round,
        job.job.kind,
        lookup_ms,
        attempt=1 + host.rules_retries,
        clock=address.name,
    )


def _due(address: AddressQueue, host: HostQueue, job: JobQueue, url: QueuedUrl) -> Due:
    order = job.job
    return Due(
        url.url,
        host.name,
        address.address,
        order.number,
        url.depth,
        url.redirects,
        url.referer,
        url.attempts + 1,
        order.round,
        order.kind,
        url.chain,
        url.link_kind,
        address.name,
    )
