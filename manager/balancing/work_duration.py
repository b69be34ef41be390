"""Duration of an agent's work: waiting and transfer over its slots, in its hours.

A unit takes ceil(URLs / burst) x interval of waiting, which is the same whoever owns it, and its
transfer. An address is one slot's work, one fetch at a time; an agent has so many slots and starts
the longest first, so it ends no sooner than its longest address and its fair sum. Its network and
its hours bound it, too.
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

from manager.balancing.arrays import FloatArray, IntArray, Matrix
from shared.windows import Windows

__all__ = [
    "DEFAULT_CAPACITY",
    "Capacity",
    "agent_work_ms",
    "elapsed_ms",
    "relative_capacity",
    "scale_costs",
    "unit_work_ms",
]

LEAST: Final = 1e-3
"""A share of the strongest: an agent that is never open gets next to nothing, not nothing."""

_FAR: Final = timedelta(days=36_500)


@dataclass(frozen=True)
class Capacity:
    """Capacity of one agent.

    slots: addresses at a time. interval_ms, burst: its politeness; burst 0 waits for nothing.
    bytes_per_s: of all fetches together, 0: no limit. room_kb: what its disk takes, None: unknown.
    hours: when it may fetch. calm: part of them in which its machine's load lets it.
    """

    slots: int = 200
    interval_ms: float = 20_000.0
    burst: int = 1
    bytes_per_s: int = 0
    room_kb: float | None = None
    hours: Windows = Windows(UTC)  # noqa: RUF009  # frozen
    calm: float = 1.0

    @property
    def strength(self) -> float:
        """Return slots x the part of a week in which they work."""
        return self.slots * self.hours.open_share() * self.calm


DEFAULT_CAPACITY: Final = Capacity()


def relative_capacity(
    agents: Sequence[Capacity], costs: Matrix, volume_kb: FloatArray
) -> FloatArray:
    """Return (agents,) capacities, the strongest 1, none below a thousandth.

    costs: (agents, units) ms of transfer. volume_kb: (units,). Slots and hours count; a limit of
    bytes a second counts where the slots could fetch more than it allows. Where an agent's share of
    the volume, by all that, would not fit on its disk, its capacity is less by as much.
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
    """Return the share of its slots' possible throughput that the agent's limit allows."""
    if not agent.bytes_per_s or transfer_ms <= 0:
        return 1.0
    could_kb_per_ms = agent.slots * volume_kb / transfer_ms
    return min(1.0, agent.bytes_per_s / 1e6 / could_kb_per_ms) if could_kb_per_ms > 0 else 1.0


def scale_costs(costs: Matrix, relative: FloatArray) -> None:
    """Make costs, (agents, units), dearer for weaker agents, in place."""
    for agent, share in enumerate(relative.tolist()):
        if share != 1.0:
            costs[agent] /= share


def unit_work_ms(transfer_ms: FloatArray, urls: FloatArray, agent: Capacity) -> FloatArray:
    """Return (units,) how long each unit takes an agent that does nothing else.

    transfer_ms, urls: (units,), urls >= 0.
    """
    if not agent.burst:
        return np.asarray(transfer_ms, dtype=np.float64)
    waiting: FloatArray = np.ceil(urls / agent.burst) * agent.interval_ms
    return waiting + transfer_ms


def agent_work_ms(
    unit_ms: FloatArray, atom: IntArray, agent: Capacity, volume_kb: float = 0.0
) -> float:
    """Return how long an agent works on its units, while it is open, pauses for load included.

    unit_ms: (units,) of `unit_work_ms`. atom: (units,) any integers; units with the same one share
    an address and are fetched one after the other. volume_kb: of all of them.
    """
    if not len(unit_ms):
        return 0.0
    _, inverse = np.unique(atom, return_inverse=True)
    of_address = np.bincount(inverse, weights=unit_ms)
    least_ms = volume_kb * 1e6 / agent.bytes_per_s if agent.bytes_per_s else 0.0
    busy_ms = max(float(of_address.sum()) / agent.slots, float(of_address.max()), least_ms)
    return busy_ms / agent.calm


def elapsed_ms(work_ms: float, agent: Capacity, start_ms: int) -> float | None:
    """Return how much later, by the clock on the wall, work that begins now is over; None: never.

    start_ms: epoch milliseconds. What takes longer than a century counts as never.
    """
    if work_ms > _FAR / timedelta(milliseconds=1):
        return None
    start = datetime.fromtimestamp(start_ms / 1000, UTC)
    end = agent.hours.worked_off(start, timedelta(milliseconds=work_ms))
    if end is None or end - start > _FAR:
        return None
    return (end - start) / timedelta(milliseconds=1)
