"""Effects of a robots.txt, or of its absence, on the turns of its host.

Without rules nothing of a host is fetched. They are asked for again, each time later, until the
host is given up: a crawl is patient, a probe is not, because a round waits for its slowest probe;
for that reason it is over, too, where the rules ask for a long Crawl-delay.
While our own network is down no host is given up, and no attempt counts.
Leaves to others: what the rules say (robots), under whose token they are fetched (starts).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from agent.modules.counts import StopCounts
from agent.modules.frontier.queues import AddressQueue, HostQueue
from agent.modules.frontier.registry import Registry
from agent.modules.limits import Politeness
from agent.modules.retry import UNTOUCHED
from agent.pipeline.messages.requests import FetchAnswer
from agent.pipeline.messages.robots import RulesDue, RulesKnown
from shared.host_failures import HostFailure

__all__ = ["Rulings"]

RETRY_GROWTH: Final = 4.0


class Rulings:
    """Takes rules, and the ends of requests for them.

    remarks: what else a person should know.
    """

    def __init__(self, registry: Registry, politeness: Politeness, remarks: StopCounts) -> None:
        self._registry = registry
        self.politeness = politeness
        self._remarks = remarks

    def known(self, known: RulesKnown) -> None:
        """Open a host's URLs for turns, retry its robots.txt later, or give the host up."""
        registry = self._registry
        host = registry.hosts.get(known.host)
        if host is None:
            return
        if known.all_denied:
            host.rules = "unknown"
            wait_s = self._without(host, known.reason)
            host.not_before_s = max(host.not_before_s, registry.turns.now_s + wait_s)
        else:
            host.rules, host.rules_until_s, host.rules_failures = "known", known.expires_s, 0
            host.rules_retries = 0
            host.rules_fresh = True
            self._set_delay(host, known.crawl_delay_s or 0.0)
        registry.dirty.update(dict.fromkeys(host.jobs))
        for queue in host.jobs.values():
            registry.turns.offer_job(queue)
        registry.turns.offer_host(host)

    def ended(
        self, address: AddressQueue, due: RulesDue, host: HostQueue | None, ended: FetchAnswer
    ) -> None:
        """Take note that a request for rules is over; `known` brings its result."""
        if ended.is_free_retry:
            self._ask_again(address, replace(due, attempt=2), host)
        elif ended.outcome in UNTOUCHED:
            self._ask_again(address, due, host)
        if host is not None:
            self._registry.dirty.update(dict.fromkeys(host.jobs))

    def _ask_again(self, address: AddressQueue, due: RulesDue, host: HostQueue | None) -> None:
        """Give rules another turn, as soon as the address has rested."""
        if due.hop:
            address.ask_for(due, at_once=True)
        elif host is not None and host.rules == "asked":
            host.rules, host.rules_retries = "unknown", due.attempt - 1

    def _without(self, host: HostQueue, reason: str) -> float:
        """Count an attempt without rules, or give up; return how many seconds until the next."""
        limits = self._registry.limits
        if self._registry.outage.is_ours(self._registry.turns.now_s):
            return limits.rules_retry_s
        host.rules_failures += 1
        host.rules_retries = 0
        said = f"unreachable: robots.txt: {reason}"
        if host.rules_failures > limits.rules_retries:
            self._registry.stop(host, said, HostFailure.UNREACHABLE)
        elif host.rules_failures > limits.probe_rules_retries:
            self._registry.stop(host, said, HostFailure.UNREACHABLE, probes_only=True)
        elif all(queue.job.kind != "crawl" for queue in host.jobs.values()):
            return limits.probe_rules_retry_s
        steps = min(host.rules_failures, limits.rules_retries + 1) - 1
        return limits.rules_retry_s * RETRY_GROWTH**steps

    def _set_delay(self, host: HostQueue, delay_s: float) -> None:
        cap_s = self.politeness.crawl_delay_cap_s
        if delay_s > cap_s:
            self._remarks.add(f"Crawl-delay longer than {cap_s:g} s, which is kept", host.name)
        host.crawl_delay_s = min(delay_s, cap_s)
        self._registry.give_up_slow_probes(host)
        self._registry.give_up_asking(host)
        if host.crawl_delay_s:
            # The robots.txt itself was a request; its address may be forgotten since, so from now.
            until_s = self._registry.turns.now_s + host.own_rest_s
            host.not_before_s = max(host.not_before_s, until_s)
            host.address.end_burst()
