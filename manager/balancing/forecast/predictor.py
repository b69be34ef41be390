"""Predictor of a crawl: the agent's scheduler as a closed queue.

Each address is one clock. A turn holds a connection for its requests, then the address rests; it
waits in a ring where all connections are in use or the network is full. Where neither happens,
which is the rule at usual intervals, the end is exact: that of the longest address. Else all
addresses wait equally long in the ring, and the wait is the one at which connections and bytes
suffice; it falls while addresses end. Where a turn takes a host to its end (burst 0), the longest
start first, each on the first connection that is free. A host that rests by itself (a split one, a
Crawl-delay) rests after each request, whatever the burst.
Invariant: no end is earlier than that of the longest address, the fair share of a connection, or
the bytes at the agent's limit.
Left out: errors, retries, the seconds until the agent has its list, and that all
addresses begin at once, which matters to crawls of a few turns on one or two connections.
Source: ADR 198 (every host has turns), ADR 70 (rests of a split host), seed 004, 5.1.4.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from manager.balancing.arrays import BoolArray, FloatArray, IntArray
from manager.balancing.forecast.work_duration import Capacity

__all__ = [
    "AddressLoad",
    "address_ends",
    "address_loads",
    "crawl_ms",
    "fast_threshold",
    "turn_rests",
]

_FAST_SHARE: Final = 0.8
"""Above this share of the hosts of an agent are the fast ones, once it has measured enough."""
_FAST_MEASURED: Final = 50
_STEP_SHARE: Final = 0.05
"""Of the addresses that are left end in one step of the queue."""
_NEWTON_STEPS: Final = 12


@dataclass(frozen=True)
class AddressLoad:
    """Load of addresses at one agent, each (addresses,).

    alone_ms: from the start to the end of its last request where no other address is. busy_ms: how
    long its requests hold a connection. turns: how often it has one. volume_kb: of all of them.
    """

    alone_ms: FloatArray
    busy_ms: FloatArray
    turns: FloatArray
    volume_kb: FloatArray


def address_loads(
    transfer_ms: FloatArray,
    urls: FloatArray,
    volume_kb: FloatArray,
    own_rest_ms: FloatArray,
    address: IntArray,
    count: int,
    agent: Capacity,
    fast_bytes_per_ms: float,
) -> AddressLoad:
    """Return the load of `count` addresses at one agent.

    transfer_ms, urls, volume_kb, own_rest_ms: (units,); the last is a rest of the host itself, as a
    Crawl-delay or the share of a split host: other hosts of the address have turns meanwhile.
    address: (units,) which of the addresses. fast_bytes_per_ms: of `fast_threshold`.
    """
    requests = np.maximum(urls, 1.0)
    # A host that rests by itself has no bursts.
    burst = np.where(own_rest_ms > 0, 1.0, float(agent.burst))
    turns = np.where(burst > 0, np.ceil(requests / np.maximum(burst, 1.0)), 1.0)
    rest = turn_rests(transfer_ms, requests, volume_kb, agent, fast_bytes_per_ms)
    rest = np.where(burst > 0, rest, 0.0)
    own = np.where(burst > 0, np.maximum(rest, own_rest_ms), 0.0)
    # No rest after the last request; before the first, a list that has just come rests.
    of_clock = _sums(address, transfer_ms + turns * rest, count)
    last = np.full(count, np.inf)
    np.minimum.at(last, address, rest)
    alone = np.maximum(of_clock - np.where(np.isfinite(last), last, 0.0), 0.0)
    np.maximum.at(alone, address, transfer_ms + (turns - 1) * own)
    first = agent.interval_ms if agent.burst else 0.0
    return AddressLoad(
        alone_ms=alone + first,
        busy_ms=_sums(address, transfer_ms, count),
        turns=np.maximum(_sums(address, turns, count), 1.0),
        volume_kb=_sums(address, volume_kb, count),
    )


def _sums(address: IntArray, values: FloatArray, count: int) -> FloatArray:
    return np.bincount(address, weights=values, minlength=count).astype(np.float64)


def fast_threshold(transfer_ms: FloatArray, volume_kb: FloatArray, agent: Capacity) -> float:
    """Return the bytes per ms from which a host is fast for an agent: the fastest fifth.

    transfer_ms, volume_kb: (units,) of all units that it may get.
    """
    if len(volume_kb) < _FAST_MEASURED:
        return agent.fast_bytes_per_ms
    at = int(len(volume_kb) * _FAST_SHARE)
    return float(np.partition(_speeds(transfer_ms, volume_kb), at)[at])


def _speeds(transfer_ms: FloatArray, volume_kb: FloatArray) -> FloatArray:
    speeds: FloatArray = np.divide(
        volume_kb * 1000, transfer_ms, out=np.zeros(len(volume_kb)), where=transfer_ms > 0
    )
    return speeds


def turn_rests(
    transfer_ms: FloatArray,
    requests: FloatArray,
    volume_kb: FloatArray,
    agent: Capacity,
    fast_bytes_per_ms: float,
) -> FloatArray:
    """Return (units,) the rest of an address after a turn at each unit."""
    speed = _speeds(transfer_ms, volume_kb)
    fast: BoolArray = (speed >= fast_bytes_per_ms) & (speed > 0)
    interval = np.where(fast, min(agent.interval_ms, agent.fast_interval_ms), agent.interval_ms)
    rests: FloatArray = np.maximum(interval, agent.delay_factor * transfer_ms / requests)
    return rests


def crawl_ms(load: AddressLoad, agent: Capacity) -> float:
    """Return when an agent that is always open has ended its addresses."""
    if not len(load.alone_ms):
        return 0.0
    limit_kb_per_ms = agent.bytes_per_s / 1e6 if agent.bytes_per_s else math.inf
    least = float(load.volume_kb.sum()) / limit_kb_per_ms
    return max(float(address_ends(load, agent).max()), least)


def address_ends(load: AddressLoad, agent: Capacity) -> FloatArray:
    """Return (addresses,) when an agent that is always open has ended each address."""
    limit_kb_per_ms = agent.bytes_per_s / 1e6 if agent.bytes_per_s else math.inf
    if not agent.burst:
        # A host that rests by itself takes as long as it does alone.
        return np.maximum(_longest_first(load.busy_ms, agent.connections), load.alone_ms)
    first = agent.interval_ms
    span = np.maximum(load.alone_ms - first, 1e-6)
    queue = _Queue(
        span / load.turns, load.busy_ms / load.turns, load.volume_kb / load.turns, load.turns
    )
    return first + queue.ends_ms(agent.connections, limit_kb_per_ms)


def _longest_first(lengths: FloatArray, connections: int) -> FloatArray:
    """Return the ends where each connection takes the longest host that is left, to its end."""
    if len(lengths) <= connections:
        return lengths
    free = [0.0] * connections
    order = np.argsort(lengths)[::-1]
    found = []
    for length in lengths[order].tolist():
        end = free[0] + length
        heapq.heapreplace(free, end)
        found.append(end)
    ends = np.empty(len(lengths))
    ends[order] = found
    return ends


@dataclass
class _Queue:
    """Addresses of an agent: each turn takes `cycle_ms` without a wait, `busy_ms` of it with a
    connection, and brings `kb`."""

    cycle_ms: FloatArray
    busy_ms: FloatArray
    kb: FloatArray
    left: FloatArray

    def ends_ms(self, connections: int, limit_kb_per_ms: float) -> FloatArray:
        """Return (addresses,) when the last turn of each is over."""
        ends = np.empty(len(self.left))
        here = np.arange(len(ends))
        now_ms = 0.0
        while True:
            wait = max(
                self._wait(self.busy_ms, float(connections)), self._wait(self.kb, limit_kb_per_ms)
            )
            lengths = self.left * (self.cycle_ms + wait)
            count = len(lengths)
            if not wait or count == 1:
                ends[here] = now_ms + lengths
                return ends
            ending = min(count - 1, math.ceil(_STEP_SHARE * count) - 1)
            step_ms = float(np.partition(lengths, ending)[ending])
            stays = lengths > step_ms * (1 + 1e-12)
            ends[here[~stays]] = now_ms + lengths[~stays]
            now_ms += step_ms
            if not stays.any():
                return ends
            here = here[stays]
            left = self.left - step_ms / (self.cycle_ms + wait)
            self.left = np.maximum(left[stays], 1e-9)
            self.cycle_ms, self.busy_ms = self.cycle_ms[stays], self.busy_ms[stays]
            self.kb = self.kb[stays]

    def _wait(self, use: FloatArray, limit: float) -> float:
        """Return the wait in each turn at which `use` a turn comes to no more than a limit."""
        if not math.isfinite(limit):
            return 0.0
        wait = 0.0
        for _ in range(_NEWTON_STEPS):
            cycle = self.cycle_ms + wait
            excess = float((use / cycle).sum()) - limit
            if excess <= 1e-6 * limit:
                break
            # Convex and falling: from the left, Newton's steps never go too far.
            wait += excess / float((use / cycle**2).sum())
        return wait
