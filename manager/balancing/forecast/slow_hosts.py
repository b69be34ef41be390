"""Remedies of a slow host: the interval, or the burst, with which one agent crawls it in time.

Closed forms of `predictor.address_loads` for an address that is alone: a rest before the first
turn and between two, each at least `delay_factor` answers long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from manager.balancing.forecast.agent_load import HostPart
from manager.balancing.forecast.work_duration import Capacity

__all__ = ["BURST_MOST", "Remedies", "remedies"]

BURST_MOST: Final = 1000
"""As many requests in a row an agent may have as its setting."""


@dataclass(frozen=True)
class Remedies:
    """interval_ms: the longest between two turns with which it ends in time, also as the interval
    of fast hosts. burst: the fewest requests of a turn. None: nothing of the kind helps."""

    interval_ms: float | None
    burst: int | None


def remedies(part: HostPart, agent: Capacity, rest_ms: float, work_ms: float) -> Remedies:
    """Return what would let an agent crawl a host in so much work.

    rest_ms: of its address after a turn, today. No setting of the agent shortens the rest that a
    host has by itself: that needs the consent of whoever set it.
    """
    spare_ms = work_ms - part.transfer_ms
    network_ms = part.volume_kb * 1e6 / agent.bytes_per_s if agent.bytes_per_s else 0.0
    if spare_ms <= 0 or network_ms > work_ms:
        return Remedies(None, None)
    return Remedies(_interval(part, agent, spare_ms), _burst(part, agent, rest_ms, spare_ms))


def _interval(part: HostPart, agent: Capacity, spare_ms: float) -> float | None:
    if not agent.burst:
        return None
    turns = math.ceil(part.requests if part.own_rest_ms else part.requests / agent.burst)
    least_ms = agent.delay_factor * part.transfer_ms / part.requests
    interval_ms = spare_ms / turns
    if interval_ms < least_ms:
        # Rests are as long as answers have them; only the first one is the interval.
        interval_ms = min(least_ms, spare_ms - (turns - 1) * least_ms)
    if interval_ms <= 0 or not part.own_rest_ms <= interval_ms < agent.interval_ms:
        return None
    return interval_ms


def _burst(part: HostPart, agent: Capacity, rest_ms: float, spare_ms: float) -> int | None:
    between_ms = spare_ms - agent.interval_ms
    if not agent.burst or part.own_rest_ms or between_ms < 0 or rest_ms <= 0:
        return None
    turns = math.floor(between_ms / rest_ms) + 1
    burst = math.ceil(part.requests / turns)
    return burst if agent.burst < burst <= BURST_MOST else None
