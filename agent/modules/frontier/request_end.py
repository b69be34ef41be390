"""End of a request: the wait that follows, and the fate of its URL.

Invariant: a URL leaves the ledger only when its page is kept, when robots.txt forbids it, or when
it is given up with a reason that is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from agent.modules.counts import StopCounts
from agent.modules.frontier.backoff import BackedOff
from agent.modules.frontier.queue_window import Front
from agent.modules.frontier.queues import AddressQueue, HostQueue, JobQueue
from agent.modules.frontier.registry import Registry
from agent.modules.frontier.robots_effects import Rulings
from agent.modules.retry import (
    ANSWERED,
    DOWN,
    SLOW_DOWN,
    TROUBLE,
    UNTOUCHED,
    gets_another_attempt,
)
from agent.pipeline.handler import Output
from agent.pipeline.messages.jobs import UnitClosed
from agent.pipeline.messages.pages import Processed
from agent.pipeline.messages.requests import Denied, Due, FetchAnswer
from agent.pipeline.messages.robots import RulesDue
from shared.host_failures import HostFailure
from shared.plurals import with_plurals

__all__ = ["NO_CONNECTION", "Endings"]

SILENT: Final = frozenset({"refused", "timeout", "disconnected"})
NO_CONNECTION: Final = frozenset({"refused", "timeout"})
"""Outcomes of answers where nothing was sent, because no connection came into being."""


class Endings:
    """Ends requests. given_up: counts URLs that are not fetched."""

    def __init__(self, registry: Registry, given_up: StopCounts, rulings: Rulings) -> None:
        self._registry = registry
        self._given_up = given_up
        self._rulings = rulings

    def ended(self, due: Due | RulesDue, ended: FetchAnswer) -> Sequence[UnitClosed]:
        """Take a turn's token back, and begin the rest; return who is quiet now."""
        registry = self._registry
        address = registry.addresses.get(due.clock or due.address)
        if address is None or address.holder is None:
            return ()
        holder = address.holder
        host = registry.hosts.get(due.host)
        here = host if host is not None and host.address is address else None
        registry.take_token_back(address)
        registry.turns.note_time(ended.ended_s)
        self._listen(ended, due.address)
        ours = registry.outage.is_ours(ended.ended_s)
        closing, address.closing = address.closing, ()
        if isinstance(holder, RulesDue):
            # Behind a redirect it was another host that was asked.
            self._rest(address, None if holder.hop else here, ended, ours=ours, asker=host)
            self._rulings.ended(address, holder, host, ended)
            self._go_on(address, None if holder.hop else here, None)
            return closing
        assert isinstance(due, Due)
        queue = registry.jobs.get(due.job)
        self._rest(address, here, ended, ours=ours, asker=here)
        if queue is not None and here is not None:
            self._page_ended(here, queue, ended, ours=ours)
        self._go_on(address, here, queue)
        return closing

    def is_unreached(self, due: Due | RulesDue, ended: FetchAnswer) -> bool:
        """Return whether a host's address refused connections, and our network works."""
        if ended.request_bytes or (isinstance(due, RulesDue) and due.hop):
            return False
        return not self._registry.outage.is_ours(ended.ended_s)

    def denied(self, denied: Denied) -> Iterator[Output]:
        """Take the token back of a request that was not sent."""
        registry = self._registry
        address = registry.addresses.get(denied.due.clock or denied.address)
        if address is None or address.holder is None:
            return
        if address.gate is not None:
            address.gate.give_back(address.holder)
        self._registry.take_token_back(address)
        closing, address.closing = address.closing, ()
        for unit in closing:
            yield "closed", unit
        due = denied.due
        host, queue = registry.hosts.get(denied.host), registry.jobs.get(due.job)
        if queue is not None:
            queue.in_flight -= 1
            url = registry.gone(queue, due.url)
            if url is not None and denied.rule:
                registry.ledger.remove(due.job, url.position)
            elif url is not None:
                _front(queue).put_back(url)
            registry.dirty[due.job] = None
        if host is not None and not denied.rule and host.rules == "known":
            host.rules = "unknown"
        self._go_on(address, host, queue)

    def kept(self, kept: Processed) -> None:
        """Forget a URL whose page is stored, and whose links have been handed on."""
        registry, job = self._registry, kept.job
        queue = registry.jobs.get(job)
        url = None if queue is None else registry.gone(queue, kept.url)
        if queue is None or url is None:
            return
        registry.ledger.keep(job, url.position)
        if not _front(queue).under_way:
            registry.dirty[job] = None

    def _listen(self, ended: FetchAnswer, address: str) -> None:
        # Half a header is an answer too: whoever breaks off is there, however often.
        if ended.outcome in SILENT and not ended.response_bytes:
            self._registry.outage.failed(address, ended.ended_s)
        elif ended.outcome not in UNTOUCHED | {"forbidden_address", "retry"}:
            self._registry.outage.answered(address)

    def _rest(
        self,
        address: AddressQueue,
        host: HostQueue | None,
        ended: FetchAnswer,
        *,
        ours: bool,
        asker: HostQueue | None,
    ) -> None:
        """Begin the rest of an address.

        host: its own, that was asked; None: another one was, or it has moved meanwhile. asker: for
        which it was asked.
        """
        if ended.outcome in ("no_permit", "forbidden_address"):
            return  # not sent
        registry, pace, ended_s = self._registry, self._registry.pace, ended.ended_s
        own_rest_s = 0.0
        if host is not None:
            pace.measure(host, ended)
            own_rest_s = host.own_rest_s
            if own_rest_s:
                host.not_before_s = max(host.not_before_s, ended_s + own_rest_s)
        address.last_end_s = ended_s
        rest_s, asked_s = pace.backoff_s(address, host, ended, ours=ours), pace.asked_s(ended)
        if asker is None or asked_s <= registry.limits.crawl_patience_s:
            rest_s = max(rest_s, asked_s)
        else:  # others that share the address need not wait for what this one asks for
            asker.not_before_s = max(asker.not_before_s, ended_s + asked_s)
        address.rest_s = rest_s
        address.in_a_row += 1
        if host is not None and pace.may_go_on(address, own_rest_s, ended):
            address.again, address.not_before_s = host, ended_s
        else:
            address.again, address.in_a_row = None, 0
            address.not_before_s = ended_s + rest_s
        backed_off = registry.backing_off.note(address, ended, asker)
        self._rest_whole_address(address, ended, ours=ours)
        if host is not None and (backed_off is not None or registry.told_to_wait):
            self._tell_others(host, backed_off)
        if max(rest_s, asked_s) > registry.limits.probe_patience_s and not ours:
            alone = asker is not None and rest_s < asked_s
            hosts = (asker,) if alone and asker else tuple(address.hosts.values())
            self._stop_probes(hosts, max(rest_s, asked_s), ended)
        if asker is not None and not ours:
            self._note_asking(asker, ended)

    def _rest_whole_address(self, address: AddressQueue, ended: FetchAnswer, *, ours: bool) -> None:
        """Lengthen the rest of a shared address for what one of its hosts answered."""
        registry, gate = self._registry, address.gate
        if address.leaving is not None:
            gate = address.leaving
            gate.not_before_s = max(gate.not_before_s, ended.ended_s + address.rest_s)
            address.leaving = None
            registry.turns.offer_gate(gate)
        elif gate is not None:
            gate.end(ended, registry.pace.politeness, ours=ours)
            registry.backing_off.note_gate(gate, ended, registry.pace.politeness)

    def _tell_others(self, host: HostQueue, backed_off: BackedOff | None) -> None:
        """Remember what a host asks for from which others fetch as well, or that it is over."""
        if backed_off is not None and any(queue.job.share for queue in host.jobs.values()):
            self._registry.told_to_wait[host.name] = backed_off
        else:
            self._registry.told_to_wait.pop(host.name, None)

    def _note_asking(self, host: HostQueue, ended: FetchAnswer) -> None:
        """Note whether a host asks for time, and give up its units where that is too much."""
        answered = ended.outcome in ANSWERED
        if ended.retry_after_s is not None or (answered and ended.status in SLOW_DOWN):
            host.asks_since_s = host.asks_since_s or ended.ended_s
            host.asks = f"status {ended.status}"
            if ended.retry_after_s is not None:
                host.asks += f", Retry-After {ended.retry_after_s:.0f} s"
            self._registry.give_up_asking(host)
        elif answered and ended.status not in TROUBLE and not ended.request.rules:
            host.asks_since_s = 0.0
            if host.asks:
                host.asks = ""
                self._registry.backing_off.forget_host(host.name)

    def _stop_probes(self, hosts: Sequence[HostQueue], rest_s: float, ended: FetchAnswer) -> None:
        """Fail the probe of a host that must rest for long, so that no round waits for it."""
        said = f"status {ended.status}" if ended.outcome in ANSWERED else ended.outcome
        if ended.request.rules:
            said = f"robots.txt: {said}"
        reason = f"unreachable: {said}, and {rest_s:.0f} s until the next request"
        for host in hosts:
            self._registry.stop(host, reason, HostFailure.UNREACHABLE, probes_only=True)

    def _page_ended(
        self, host: HostQueue, queue: JobQueue, ended: FetchAnswer, *, ours: bool
    ) -> None:
        registry, number, url = self._registry, queue.job.number, ended.request.url
        front, outcome = _front(queue), ended.outcome
        queue.in_flight -= 1
        host.rules_fresh = False
        if ours or outcome in UNTOUCHED:
            if outcome not in UNTOUCHED:  # the first one after an outage does not end a host
                most = max(host.failures, registry.limits.failures_in_a_row - 2)
                host.failures = min(host.failures + 1, most)
            found = registry.gone(queue, url)
            if found is not None:
                # One URL that hangs says nothing of the others: they are asked for before it.
                front.put_back(found, last=ours)
            registry.dirty[number] = None
            return
        queue.pages += 1
        queue.response_bytes += ended.response_bytes
        registry.ledger.count(number, pages=1, kept=0, response_bytes=ended.response_bytes)
        if outcome in ANSWERED:
            if ended.status in TROUBLE:
                self._answered_badly(host, queue, ended)
            else:
                host.failures = 0
        elif ended.is_free_retry:
            self._try_again(queue, ended)
        else:
            host.failures += 1
            if not self._try_again(queue, ended):
                queue.trouble = outcome
                found = registry.gone(queue, url)
                if found is not None:
                    registry.ledger.remove(number, found.position)
                    self._given_up.add(outcome, url)
            if outcome == "forbidden_address":
                registry.stop(
                    host,
                    "unreachable: its address must not be crawled",
                    HostFailure.FORBIDDEN_ADDRESS,
                )
            else:
                self._stop_dead(host, outcome)
        if not front.under_way:  # otherwise `kept` sees to it
            registry.dirty[number] = None

    def _answered_badly(self, host: HostQueue, queue: JobQueue, ended: FetchAnswer) -> None:
        """Try a URL again whose host has trouble, and give up a host that is down."""
        said = f"status {ended.status}"
        if not self._try_again(queue, ended):
            queue.trouble = said
            queue.faults += 1
        if ended.status in DOWN:
            host.failures += 1
            self._stop_dead(host, said)
        else:
            host.failures = 0

    def _stop_dead(self, host: HostQueue, said: str) -> None:
        if host.failures >= self._registry.limits.failures_in_a_row:
            reason = with_plurals(f"unreachable: {said}, {host.failures} requests in a row")
            self._registry.stop(host, reason, HostFailure.UNREACHABLE)

    def _try_again(self, queue: JobQueue, ended: FetchAnswer) -> bool:
        """Put a URL back that gets another attempt; tell whether it does."""
        registry, number, url = self._registry, queue.job.number, ended.request.url
        found = _front(queue).under_way.get(url)
        if found is None:
            return False
        attempt = found.attempts + 1
        if not gets_another_attempt(ended.outcome, ended.status, attempt, registry.limits.retries):
            return False
        registry.gone(queue, url)
        wait_s = (
            0.0 if ended.is_free_retry else registry.retry_wait_s(attempt)
        )  # beside the address's
        due_ms = registry.wall.epoch_ms(ended.ended_s + wait_s)
        registry.ledger.retry(number, found.position, attempt, due_ms)
        queue.has_more()
        return True

    def _go_on(self, address: AddressQueue, host: HostQueue | None, queue: JobQueue | None) -> None:
        registry, turns = self._registry, self._registry.turns
        if queue is not None:
            turns.offer_job(queue)
        if host is not None:
            turns.offer_host(host)
            if not host.jobs:
                registry.forget_if_idle(host)
        turns.offer_address(address)
        if host is None or not host.jobs:
            registry.forget_address_if_idle(address)


def _front(queue: JobQueue) -> Front:
    """Return what a job has in memory: there is something since its first turn."""
    assert queue.front is not None
    return queue.front
