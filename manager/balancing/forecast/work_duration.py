"""Capacity of agents: connections, pace, network, disk and hours; and time by the clock.

`predictor` turns a capacity and units into the time that their crawl takes; here are what an agent
may do, how strong it is beside the others, and the hours that work takes by the clock on the wall.
Invariant: agents of equal capacity keep the transfer costs that they were measured by; a weaker
one's are dearer by how much it is weaker, so that every method sees it.
Source: design of the mission, "Waiting dominates"; the source's 200 threads (seed 004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from manager.balancing.arrays import FloatArray, Matrix
from shared.windows import Windows

__all__ = [
    "DEFAULT_CAPACITY",
    "Availability",
    "Capacity",
    "relative_capacity",
    "scale_costs",
]

LEAST: Final = 1e-3
"""A share of the strongest: an agent that is never open gets next to nothing, not nothing."""

_CHANGES_FOLLOWED: Final = 60
"""A month of nights."""


@dataclass(frozen=True)
class Capacity:
    """Capacity of one agent.

    connections: requests under way at a time. interval_ms: rest of an address after a turn of
    `burst` requests; burst 0 waits for nothing. fast_interval_ms: of its fastest hosts, which give
    at least fast_bytes_per_ms. delay_factor: a rest is at least so many times the last answer.
    bytes_per_s: of all fetches together, 0: no limit. room_kb: what its disk takes, None: unknown.
    hours: when it may fetch. calm: part of them in which its machine's load lets it.
    """

    connections: int = 200
    interval_ms: float = 20_000.0
    burst: int = 1
    fast_interval_ms: float = 10_000.0
    fast_bytes_per_ms: float = 14.0
    delay_factor: float = 10.0
    bytes_per_s: int = 0
    room_kb: float | None = None
    hours: Windows = Windows(UTC)  # noqa: RUF009  # frozen
    calm: float = 1.0

    @property
    def strength(self) -> float:
        """Return connections x the part of a week in which they work."""
        return self.connections * self.hours.open_share() * self.calm


DEFAULT_CAPACITY: Final = Capacity()


def relative_capacity(
    agents: Sequence[Capacity], costs: Matrix, volume_kb: FloatArray
) -> FloatArray:
    """Return (agents,) capacities, the strongest 1, none below a thousandth.

    costs: (agents, units) ms of transfer. volume_kb: (units,). Slots and hours count; a limit of
    bytes a second counts where the connections could fetch more than it allows. Where an agent's
    share of the volume, by all that, would not fit on its disk, its capacity is less by as much.
    """
    total_kb = float(volume_kb.sum())
    strength = np.array(
        [
            agent.strength * _through(agent, float(row.sum(dtype=np.float64)), total_kb)
            for agent, row in zip(agents, costs, strict=True)
        ],
        dtype=np.float64,
    )
    if not len(agents) or strength.max() <= 0:
        return np.ones(len(agents))
    share_kb = strength / strength.sum() * total_kb
    for number, agent in enumerate(agents):
        if agent.room_kb is not None and share_kb[number] > agent.room_kb:
            strength[number] *= max(0.0, agent.room_kb) / share_kb[number]
    if strength.max() <= 0:
        return np.ones(len(agents))
    relative: FloatArray = np.maximum(strength / strength.max(), LEAST)
    return relative


def _through(agent: Capacity, transfer_ms: float, volume_kb: float) -> float:
    """Return the share of its connections' possible throughput that the agent's limit allows."""
    if not agent.bytes_per_s or transfer_ms <= 0:
        return 1.0
    could_kb_per_ms = agent.connections * volume_kb / transfer_ms
    return min(1.0, agent.bytes_per_s / 1e6 / could_kb_per_ms) if could_kb_per_ms > 0 else 1.0


def scale_costs(costs: Matrix, relative: FloatArray) -> None:
    """Make costs, (agents, units), dearer for weaker agents, in place."""
    for agent, share in enumerate(relative.tolist()):
        if share != 1.0:
            costs[agent] /= share


class Availability:
    """Hours of one agent from a start on: how much it works until a moment, and the reverse.

    Exact for the first weeks; what is after them takes its share of the week.
    """

    def __init__(self, agent: Capacity, start_ms: int) -> None:
        share = agent.hours.open_share()
        self._rate = share * agent.calm
        ends, works = [0.0], [0.0]
        if 0 < share < 1:
            start = now = datetime.fromtimestamp(start_ms / 1000, UTC)
            for _ in range(_CHANGES_FOLLOWED):
                change = agent.hours.next_change(now)
                if change is None:
                    break
                open_ms = (change - now) / timedelta(milliseconds=1) * agent.hours.is_open(now)
                ends.append((change - start) / timedelta(milliseconds=1))
                works.append(works[-1] + open_ms * agent.calm)
                now = change
        self._ends, self._works = np.array(ends), np.array(works)

    @property
    def is_always(self) -> bool:
        """Return whether the agent works at every hour alike."""
        return len(self._ends) == 1

    def work_at(self, end_ms: FloatArray) -> FloatArray:
        """Return the milliseconds of work that are done so long after the start."""
        work = np.interp(end_ms, self._ends, self._works)
        later: FloatArray = work + np.maximum(0.0, end_ms - self._ends[-1]) * self._rate
        return later

    def end_of(self, work_ms: FloatArray) -> FloatArray:
        """Return how long after the start so much work is over; inf: never."""
        beyond = np.maximum(0.0, work_ms - self._works[-1])
        beyond = beyond / self._rate if self._rate > 0 else np.where(beyond > 0, np.inf, 0.0)
        return self._within(work_ms) + beyond

    def _within(self, work_ms: FloatArray) -> FloatArray:
        """Return the same within the hours that are known one by one."""
        if len(self._ends) == 1:
            return np.zeros_like(work_ms)
        at = np.clip(np.searchsorted(self._works, work_ms, side="left"), 1, len(self._works) - 1)
        span = np.maximum(self._works[at] - self._works[at - 1], 1e-9)
        left = np.clip((self._works[at] - work_ms) / span, 0.0, None)
        ends = self._ends[at] - left * (self._ends[at] - self._ends[at - 1])
        return np.where(work_ms > 0, ends, 0.0)
