"""Share of the source's world that is crawled in a day (seed 004, 3.1: "all in 24 hours").

An address gives one turn of `burst` requests in each rest and answer. So more agents help
only while connections are scarce, and pieces only where the host allows their rate together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.balance.world import HOUR_MS, World
from manager.balancing.forecast.predictor import address_loads, fast_threshold
from manager.balancing.forecast.work_duration import Capacity

__all__ = ["DAY_CASES", "Day", "DayCase", "day_of", "interval_for_all"]

DAY_MS: Final = 24 * HOUR_MS


@dataclass(frozen=True)
class DayCase:
    """agents: the nearest so many for each host. pieces: of the hosts that end too late, each with
    the whole rate, which a host must allow."""

    label: str
    agents: int = 17
    interval_s: float = 20.0
    burst: int = 1
    pieces: int = 1


DAY_CASES: Final = (
    DayCase("one agent", agents=1),
    DayCase("3 agents", agents=3),
    DayCase("17 agents, as by default"),
    DayCase("interval 5 s", interval_s=5),
    DayCase("interval 1 s", interval_s=1),
    DayCase("burst 10", burst=10),
    DayCase("burst 100", burst=100),
    DayCase("split in 10, shared rate (ADR 70)"),
    DayCase("split in 10, host allows 10 times the rate", pieces=10),
)


@dataclass(frozen=True)
class Day:
    """pages, hosts: shares that are done in a day. end_h: when the longest host is."""

    pages: float
    hosts: float
    end_h: float


def day_of(world: World, case: DayCase) -> Day:
    """Return what one day brings; each host is crawled by its nearest agent."""
    agents, hosts = world.distance.shape
    agent = Capacity(
        interval_ms=case.interval_s * 1000,
        fast_interval_ms=min(10_000.0, case.interval_s * 1000),
        burst=case.burst,
    )
    own = world.hours[np.argsort(world.hours.sum(axis=1))[: min(agents, case.agents)]]
    transfer = own.min(axis=0) * HOUR_MS
    threshold = fast_threshold(transfer, world.volume_kb, agent)
    load = address_loads(
        transfer,
        world.urls,
        world.volume_kb,
        np.zeros(hosts),
        np.arange(hosts, dtype=np.intp),
        hosts,
        agent,
        threshold,
    )
    ends = load.alone_ms / case.pieces if case.pieces > 1 else load.alone_ms
    connections = float((load.busy_ms / load.alone_ms).sum()) / (agent.connections * case.agents)
    done = np.minimum(1.0, DAY_MS / ends) / max(1.0, connections)
    return Day(
        float((done * world.urls).sum() / world.urls.sum()),
        float((done >= 1).mean()),
        float(ends.max()) / HOUR_MS,
    )


def interval_for_all(world: World) -> float:
    """Return the seconds between two requests at which the largest host ends in a day."""
    transfer_s = world.hours.min(axis=0) * 3600
    return float(((DAY_MS / 1000 - transfer_s) / world.urls).min())
