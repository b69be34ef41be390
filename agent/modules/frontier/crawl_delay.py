"""Crawl delay: the wait of an address after a request.

    20 s; 10 s for the fastest fifth of the hosts
    ten times as long as the answer took, where that is longer
    twice as long for each error, 429 or 503, and half as long again for each success
    twice as long for each 500, 502, 504 but the first in a row, which may be of one page; 500 up to
    four times: a broken part of a site must not hold up the others
    as long as `Retry-After` says, up to what a crawl waits for; a longer one is a rest of its host
Crawl-delay and the share of a split host's rate are rests of the host, not of the address.

Invariant: no rest is shorter than the base interval of its host, and none but one that the server
asked for is longer than `backoff_cap_s` (or the base, if that is longer).
Source: seed 004, 5.1.4 (20 s, 10 s, the fastest fifth, 14.0 bytes/ms); seed 002 (ten times).
"""

from __future__ import annotations

from typing import Final

from agent.modules.frontier.queues import AddressQueue, HostQueue
from agent.modules.limits import Politeness
from agent.modules.retry import ANSWERED, FAULTS, PAGE_FAULT, TROUBLE
from agent.pipeline.messages.requests import FetchAnswer

__all__ = ["Pace", "is_first_fault", "is_strike"]

MAX_STRIKES: Final = 30  # doublings; far beyond any cap
PAGE_FAULT_STRIKES: Final = 3  # by 500 alone: the first is free, so they make two doublings
SPEEDS_KEPT: Final = 100_000


def is_strike(ended: FetchAnswer) -> bool:
    """Return whether a request's end asks for more distance: no answer, or one that says so."""
    if ended.outcome in ANSWERED:
        return ended.status in TROUBLE
    return not ended.is_free_retry


def is_first_fault(ended: FetchAnswer, strikes: int) -> bool:
    """Return whether an address need not rest longer for this error, which may be its page's own.

    strikes: of the address, with this one.
    """
    return strikes == 1 and ended.status in FAULTS and ended.outcome in ANSWERED


class Pace:
    """Computes rests, and learns which hosts are fast."""

    def __init__(self, politeness: Politeness) -> None:
        self.politeness = politeness
        self._speeds: dict[str, float] = {}  # bytes per millisecond
        self._fast_bytes_per_ms = politeness.fast_bytes_per_ms
        self._until_next_look = politeness.fast_hosts_measured

    def base_s(self, host: HostQueue | None) -> float:
        """Return the interval of an address for the speed of one of its hosts."""
        politeness = self.politeness
        if host is None or not host.total_ms:
            return politeness.interval_s
        if host.total_bytes / host.total_ms < self._fast_bytes_per_ms:
            return politeness.interval_s
        return min(politeness.interval_s, politeness.fast_interval_s)

    @property
    def longest_s(self) -> float:
        """Return how long an address rests at most, whatever it asks for."""
        politeness = self.politeness
        return max(politeness.interval_s, politeness.backoff_cap_s, politeness.retry_after_cap_s)

    def measure(self, host: HostQueue, ended: FetchAnswer) -> None:
        """Learn from an answer how fast a host is."""
        elapsed_ms, all_speeds = ended.elapsed_ms, self._speeds
        if ended.outcome not in ANSWERED or elapsed_ms <= 0:
            return
        host.total_bytes += ended.response_bytes
        host.total_ms += elapsed_ms
        if len(all_speeds) >= SPEEDS_KEPT and host.name not in all_speeds:
            all_speeds.pop(next(iter(all_speeds)))
        all_speeds[host.name] = host.total_bytes / host.total_ms
        self._until_next_look -= 1
        if self._until_next_look <= 0 and len(all_speeds) >= self._enough:
            speeds = sorted(all_speeds.values())
            self._fast_bytes_per_ms = speeds[len(speeds) * 4 // 5]
            # Sorting again after a tenth as many measurements keeps the cost of each constant
            # but for a logarithm.
            self._until_next_look = max(self._enough, len(speeds) // 10)

    def asked_s(self, ended: FetchAnswer) -> float:
        """Return the wait of a server's `Retry-After`, cut to the limit."""
        return min(ended.retry_after_s or 0.0, self.politeness.retry_after_cap_s)

    def backoff_s(
        self,
        address: AddressQueue,
        host: HostQueue | None,
        ended: FetchAnswer,
        *,
        ours: bool = False,
    ) -> float:
        """Return how long an address rests but for a `Retry-After`, and remember its strikes.

        ours: it is our own network that is down, so silence is no strike of the address; but it
        keeps those that it has.
        """
        politeness, base = self.politeness, self.base_s(host)
        answered, strike = ended.outcome in ANSWERED, is_strike(ended)
        if not (strike or address.strikes):  # nearly always
            rest = politeness.times_last * ended.elapsed_ms / 1000
            return base if rest <= base else min(rest, max(base, politeness.backoff_cap_s))
        if not strike and answered:
            address.strikes = max(address.strikes - 1, 0)
        elif not strike:
            pass  # neither an error nor a success
        elif answered and ended.status == PAGE_FAULT:
            address.strikes = max(address.strikes, min(address.strikes + 1, PAGE_FAULT_STRIKES))
        elif answered or not ours:
            address.strikes = min(address.strikes + 1, MAX_STRIKES)
        doublings = address.strikes
        if not answered:
            doublings = max(doublings, 1)  # also where it was us
        elif ended.status in FAULTS:
            doublings -= 1  # the first one is free
        rest = base
        if answered:  # how long we waited for nothing is a limit of ours, no measure of theirs
            rest = max(rest, politeness.times_last * ended.elapsed_ms / 1000)
        if doublings:
            rest = max(rest, politeness.backoff_least_s) * 2.0**doublings
        return min(rest, max(base, politeness.backoff_cap_s))

    def may_go_on(self, address: AddressQueue, own_rest_s: float, ended: FetchAnswer) -> bool:
        """Return whether the next request may follow at once on the connection that is open.

        own_rest_s: the rest of the host itself.
        """
        burst = self.politeness.burst
        return (
            (burst == 0 or address.in_a_row < burst)
            and ended.kept_alive
            and ended.outcome in ANSWERED  # silence is no strike where our network is down
            and not address.strikes
            and ended.retry_after_s is None
            and not own_rest_s
        )

    @property
    def _enough(self) -> int:
        return max(1, self.politeness.fast_hosts_measured)
