"""Control hosts: a few that all agents probe in every batch, to tell a sick agent from a sick host.

An agent is compared with others over the same hosts at the same time: a host that is slow for all
of them is slow itself, an agent that is slow for all of them is sick, or lies.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from shared.frozen import frozen
from shared.messages import Message
from shared.ratios import times_message

__all__ = ["AgentDeviation", "ControlProbe", "find_deviations", "unreliable_hosts"]

OTHERS_LEAST: Final = 2
"""Agents to compare with: of only two that differ, either may be the sick one."""
CONTROLS_LEAST: Final = 2
"""One host may be slow from one place."""


@frozen
class ControlProbe:
    """An agent's newest distance to a control host; ms_per_kb None: unreachable."""

    agent: int
    unit: int
    ms_per_kb: float | None
    measured_ms: int


@frozen
class AgentDeviation:
    """An agent that sees its control hosts otherwise than the others do.

    times: how many times slower, below 1 faster, inf: it reaches none. hosts: how many controls.
    near: compared with its neighbours in the tree, not with all. since_ms: of the first such probe.
    """

    agent: int
    times: float
    hosts: int
    near: bool
    since_ms: int

    @property
    def reason(self) -> Message:
        """Return the difference, without its time."""
        others = Message("distance.neighbours" if self.near else "distance.other_agents")
        if math.isinf(self.times):
            return Message("distance.controls_silent", hosts=self.hosts, others=others)
        return Message(
            "distance.controls_slower" if self.times >= 1 else "distance.controls_faster",
            times=times_message(self.times),
            others=others,
        )


def find_deviations(
    probes: Sequence[ControlProbe], neighbours: Mapping[int, Sequence[int]], factor: float
) -> list[AgentDeviation]:
    """Return the agents whose control hosts are slower or faster than for others, by a factor.

    neighbours: of each agent in the tree; where fewer than two of them probed a host, all others
    that did are compared. A host that at least half of its agents do not reach says nothing.
    """
    of_unit: dict[int, dict[int, ControlProbe]] = defaultdict(dict)
    for probe in probes:
        of_unit[probe.unit][probe.agent] = probe
    sick = set(unreliable_hosts(probes))
    found = []
    for agent in sorted({probe.agent for probe in probes}):
        compared = [
            row
            for unit, by_agent in of_unit.items()
            if agent in by_agent and unit not in sick
            for row in _compared(agent, by_agent, neighbours.get(agent, ()))
        ]
        if len(compared) < CONTROLS_LEAST:
            continue
        slower = statistics.median_low(row.slower for row in compared)
        faster = statistics.median_high(row.faster for row in compared)
        if slower < factor and faster > 1 / factor:
            continue
        found.append(
            AgentDeviation(
                agent,
                slower if slower >= factor else faster,
                len(compared),
                near=all(row.near for row in compared),
                since_ms=min(
                    row.measured_ms
                    for row in compared
                    if row.slower >= factor or row.faster <= 1 / factor
                ),
            )
        )
    return found


@frozen
class _Compared:
    """One control host of an agent: its distance over the upper and the lower median of others.

    Among two others of which one is sick, no agent is slower than both nor faster than both.
    """

    slower: float
    faster: float
    measured_ms: int
    near: bool


def _compared(
    agent: int, by_agent: Mapping[int, ControlProbe], neighbours: Sequence[int]
) -> list[_Compared]:
    """Return the comparison over one host; none where there are too few to compare with."""
    others = [other for other in by_agent if other != agent]
    near = [other for other in others if other in neighbours]
    chosen = near if len(near) >= OTHERS_LEAST else others
    if len(chosen) < OTHERS_LEAST:
        return []
    values = [_ms(by_agent[other]) for other in chosen]
    low, high = statistics.median_low(values), statistics.median_high(values)
    if math.isinf(low):
        return []
    own = by_agent[agent]
    # If half of the others do not reach it, no agent is slower than they are.
    slower = 0.0 if math.isinf(high) else _ms(own) / high
    return [_Compared(slower, _ms(own) / low, own.measured_ms, chosen is near)]


def unreliable_hosts(probes: Sequence[ControlProbe]) -> dict[int, tuple[int, int]]:
    """Return the control hosts that at least half of three or more agents do not reach.

    As unit to (agents that do not reach it, agents that tried): the host is sick, not the agents.
    """
    tried: dict[int, int] = defaultdict(int)
    silent: dict[int, int] = defaultdict(int)
    for probe in probes:
        tried[probe.unit] += 1
        silent[probe.unit] += probe.ms_per_kb is None
    return {
        unit: (silent[unit], count)
        for unit, count in tried.items()
        if count > OTHERS_LEAST and 2 * silent[unit] >= count
    }


def _ms(probe: ControlProbe) -> float:
    """Return the distance; no time at all counts as a microsecond, or nothing could be divided."""
    return math.inf if probe.ms_per_kb is None else max(probe.ms_per_kb, 1e-3)
