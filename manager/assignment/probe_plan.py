"""Probe plan for large fleets: a few agents for each host, within budgets.

In this order: the finder and the owner of the host, whose distances will be used; all agents, up to
the daily limit of a host, for the largest hosts; the neighbours of the finder in the spanning tree
(of the owner if no agent found it), which see the same hosts near; and some that are drawn by the
host's number, so that a repeat draws the same. An agent whose distance is fresh counts as one that
probes: of a host that enough agents measured only the finder and the owner are asked.
Invariants: no pair twice, none that is fresh, no host to more agents than it bears, no agent
more hosts than its budget holds; the budget goes to the first in the order. The full product
of agents and hosts is never made: time and memory grow with the resulting pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from manager.assignment.errors import RuleError

__all__ = ["NO_AGENT", "ProbeRules", "plan_probes"]

IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

NO_AGENT: Final = -1


@dataclass(frozen=True)
class ProbeRules:
    """each: agents that probe a host. large: agents that probe one of the largest, at most.

    budget: (agents,) hosts that each agent may still be given. near: of each agent its neighbours.
    """

    each: int
    large: int
    budget: IntArray
    near: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        for name in ("each", "large"):
            if getattr(self, name) < 1:
                raise RuleError("assignment.bad_probe_rule", name=name, agents=getattr(self, name))
        if len(self.near) != len(self.budget):
            raise RuleError("assignment.wrong_lists", lists=len(self.near), agents=len(self.budget))


def plan_probes(
    unit_id: npt.NDArray[np.int64],
    finder: IntArray,
    owner: IntArray,
    large: BoolArray,
    fresh: npt.NDArray[np.int64],
    banned: npt.NDArray[np.int64],
    rules: ProbeRules,
) -> tuple[IntArray, IntArray]:
    """Return (pairs,) the units, as places in `unit_id`, and the agents to probe them.

    finder, owner: (units,) agents or NO_AGENT. large: (units,). fresh: pairs that need no probe, as
    place x agents + agent. banned: pairs that may not be; others probe in their place.
    """
    agents, units = len(rules.budget), len(unit_id)
    if not agents or not units:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    start, step = _draw(unit_id, agents)
    rows = np.arange(units)
    extra = int(np.bincount((banned // agents).astype(np.intp), minlength=units).max(initial=0))
    most = max(rules.each, rules.large)
    near = _near(finder, owner, rules, agents)
    preferred = np.column_stack([finder, owner, near])
    draws = rules.each + preferred.shape[1] + extra
    drawn = (start[:, None] + step[:, None] * np.arange(min(agents, draws))) % agents
    preferred, drawn = (
        _without(banned, preferred, rows, agents),
        _without(banned, drawn, rows, agents),
    )
    known = _first(preferred[:, :2], rules.each)
    first_place, first_agent = _ranked(known, rows)
    big = np.flatnonzero(large)
    turns = np.arange(min(agents, 2 * most + extra))
    around = (start[big, None] + step[big, None] * turns) % agents
    around = _without(banned, around, big, agents)
    big_place, big_agent = _ranked(_first(np.column_stack([preferred[big], around]), most), big)
    small = np.flatnonzero(~large)
    measured = _measured(fresh, units, agents, rules.each)
    candidates = np.column_stack([preferred[:, :2], measured, preferred[:, 2:], drawn])
    chosen = _first(candidates[small], rules.each)
    small_place, small_agent = _ranked(chosen, small)
    pairs = np.concatenate([first_place, big_place, small_place]).astype(np.int64) * agents
    pairs += np.concatenate([first_agent, big_agent, small_agent])
    _, first = np.unique(pairs, return_index=True)
    pairs = pairs[np.sort(first)]
    pairs = pairs[~np.isin(pairs, fresh)]
    place, agent = (pairs // agents).astype(np.intp), (pairs % agents).astype(np.intp)
    kept = _within(agent, rules.budget)
    return place[kept], agent[kept]


def _measured(fresh: npt.NDArray[np.int64], units: int, agents: int, most: int) -> IntArray:
    """Return (units, most) agents whose distance is fresh: they count as if they probed."""
    table = np.full((units, min(most, agents)), NO_AGENT, dtype=np.intp)
    pairs = np.unique(fresh)
    place = pairs // agents
    turn = np.arange(len(pairs)) - np.searchsorted(place, place)
    kept = turn < table.shape[1]
    table[place[kept], turn[kept]] = pairs[kept] % agents
    return table


def _without(
    banned: npt.NDArray[np.int64], candidates: IntArray, place: IntArray, agents: int
) -> IntArray:
    """Return (rows, columns) candidates with NO_AGENT where a pair is banned."""
    if not len(banned):
        return candidates
    codes = place[:, None].astype(np.int64) * agents + candidates
    return np.where(np.isin(codes, banned) & (candidates != NO_AGENT), NO_AGENT, candidates)


def _near(finder: IntArray, owner: IntArray, rules: ProbeRules, agents: int) -> IntArray:
    """Return (units, neighbours) those of the finder, or of the owner if there is no finder."""
    most = max(1, min(rules.each, max((len(near) for near in rules.near), default=0)))
    table = np.full((agents + 1, most), NO_AGENT, dtype=np.intp)
    for agent, near in enumerate(rules.near):
        table[agent, : len(near[:most])] = near[:most]
    return table[np.where(finder == NO_AGENT, owner, finder)]


def _draw(unit_id: npt.NDArray[np.int64], agents: int) -> tuple[IntArray, IntArray]:
    """Return (units,) where to start and how far to step, so that each agent comes once."""
    mixed = unit_id.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    coprime = np.flatnonzero(np.gcd(np.arange(1, agents + 1), agents) == 1) + 1
    start = mixed % np.uint64(agents)
    step = coprime[((mixed >> np.uint64(32)) % np.uint64(len(coprime))).astype(np.intp)]
    return start.astype(np.intp), step.astype(np.intp)


def _first(candidates: IntArray, most: int) -> IntArray:
    """Return (units, most) the first different candidates of each row, then NO_AGENT."""
    chosen = np.full((len(candidates), most), NO_AGENT, dtype=np.intp)
    used = np.zeros(len(candidates), dtype=np.intp)
    rows = np.arange(len(candidates))
    for column in candidates.T:
        known = (chosen == column[:, None]).any(axis=1)
        new = (column != NO_AGENT) & ~known & (used < most)
        chosen[rows[new], used[new]] = column[new]
        used[new] += 1
    return chosen


def _ranked(chosen: IntArray, place: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of a table, first all of its first column, without NO_AGENT."""
    agent = chosen.T.ravel()
    places = np.tile(place, chosen.shape[1])
    given = agent != NO_AGENT
    return places[given], agent[given]


def _within(agent: IntArray, budget: IntArray) -> IntArray:
    """Return which pairs fit the agents' budgets, the first of each agent first; in their order."""
    order = np.argsort(agent, kind="stable")
    counts = np.bincount(agent, minlength=len(budget))
    begins = np.cumsum(counts) - counts
    place_in_line = np.arange(len(agent)) - begins[agent[order]]
    return np.sort(order[place_in_line < budget[agent[order]]])
