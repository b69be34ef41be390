"""Forecast of takeovers: the work of agents that are late or lost, at those that will take it.

Each address goes to the agent that ends soonest with it, the longest first. The takeover itself
chooses by what hosts cost, so this predicts the end, not the owners.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from manager.balancing.arrays import FloatArray
from manager.balancing.forecast.agent_load import AgentLoad
from manager.balancing.forecast.work_duration import Capacity
from manager.operations.planning.work_left import (
    WorkLeft,
    agent_loads,
    size_units,
    work_of_loads,
)
from manager.operations.rounds.agent_timing import AgentTiming, ForecastReason

__all__ = ["takeover_waits", "work_after_takeovers"]

_LEAVING = (ForecastReason.LATE, ForecastReason.LOST)


def takeover_waits(timings: Mapping[int, AgentTiming], now_ms: int) -> dict[int, int]:
    """Return those agents whose work others take, and in how many milliseconds."""
    return {
        agent: max(0, (timing.until_ms or now_ms) - now_ms)
        for agent, timing in timings.items()
        if timing.reason in _LEAVING
    }


def work_after_takeovers(
    units: FloatArray,
    capacities: Mapping[int, Capacity],
    waits: Mapping[int, int],
    takers: Sequence[int],
) -> dict[int, WorkLeft]:
    """Return what each agent has left of some units (`units_left`) after the takeovers.

    waits: of `takeover_waits`. takers: agents that can take work. Without takers, or without a
    late agent that has work, each agent keeps its units.
    """
    sized = size_units(units)
    loads = agent_loads(sized, capacities)
    taken = _place(loads, capacities, waits, takers)
    if not taken:
        return work_of_loads(sized, loads)
    owner = np.array(
        [
            taken.get(pair, pair[0])
            for pair in zip(sized.agent.tolist(), sized.group.tolist(), strict=True)
        ],
        dtype=np.intp,
    )
    after = replace(sized, agent=owner)
    later = {
        agent: _delayed(load, [pair for pair in taken if taken[pair] == agent], waits)
        for agent, load in agent_loads(after, capacities).items()
    }
    found = {
        agent: replace(work, units=int((sized.agent == agent).sum()))
        for agent, work in work_of_loads(after, later).items()
    }
    for agent in {left for left, _ in taken}:
        by = sorted({taker for (left, _), taker in taken.items() if left == agent})
        found[agent] = WorkLeft(int((sized.agent == agent).sum()), 0.0, (), tuple(by))
    return found


def _place(
    loads: Mapping[int, AgentLoad],
    capacities: Mapping[int, Capacity],
    waits: Mapping[int, int],
    takers: Sequence[int],
) -> dict[tuple[int, int], int]:
    """Return who takes what: (present owner, address) to agent."""
    queue = [(loads[agent].work_ms if agent in loads else 0.0, agent) for agent in takers]
    heapq.heapify(queue)
    addresses = [
        (waits[owner] + alone_ms, busy_ms, owner, address)
        for owner, load in loads.items()
        if owner in waits and queue
        for address, alone_ms, busy_ms in zip(
            load.address.tolist(),
            load.load.alone_ms.tolist(),
            load.load.busy_ms.tolist(),
            strict=True,
        )
    ]
    found = {}
    for end_ms, busy_ms, owner, address in sorted(addresses, reverse=True):
        before_ms, taker = queue[0]
        connections = capacities.get(taker, Capacity()).connections
        heapq.heapreplace(queue, (max(before_ms, end_ms) + busy_ms / connections, taker))
        found[owner, address] = taker
    return found


def _delayed(
    load: AgentLoad, taken: Sequence[tuple[int, int]], waits: Mapping[int, int]
) -> AgentLoad:
    """Return a load whose taken addresses begin after the takeover. taken: (owner, address)."""
    for owner in {owner for owner, _ in taken}:
        addresses = [address for left, address in taken if left == owner]
        load = load.later(np.array(addresses, dtype=np.intp), waits[owner])
    return load
