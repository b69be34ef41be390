"""Probe rotation: which group is with which agent, wave after wave, until each pair was measured.

A group of hosts on one address is with one agent at a time, and all agents work at once: in turn k
agent a starts with the groups g for which g + k = a (mod agents), the diagonal of a Latin square,
and takes from the next diagonals what its budget still holds. Invariants: within a wave no group
is with two agents, no pair is ordered that was measured, and no agent idles while a group that it
lacks is free.
Source: seed 004, 6.3 (17 agents, 6,500 hosts, 50 URLs each).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from manager.assignment.errors import RuleError

__all__ = ["NO_AGENT", "all_waves", "next_wave"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[np.intp]

NO_AGENT: Final = -1


def next_wave(
    missing: BoolArray,
    budget: int,
    *,
    turn: int = 0,
    sizes: IntArray | None = None,
    free: BoolArray | None = None,
    spent: IntArray | None = None,
) -> IntArray:
    """Return (groups,) which agent probes each group in the next wave, or NO_AGENT.

    missing: (agents, groups) the agent lacks a fresh distance to the group. budget: hosts that an
    agent may be given at once. sizes: (groups,) hosts of each group, 1 by default. free: (groups,)
    nobody has it now. spent: (agents,) hosts of earlier orders still open. A group larger than the
    budget goes to an agent that has nothing else.
    """
    agents, groups = missing.shape
    if budget < 1:
        raise RuleError(f"budget = {budget} hosts: must be >= 1, or nothing is ever probed")
    size = np.ones(groups, dtype=np.intp) if sizes is None else sizes
    used = np.zeros(agents, dtype=np.intp) if spent is None else spent.copy()
    agent_of = np.full(groups, NO_AGENT, dtype=np.intp)
    waiting = np.ones(groups, dtype=np.bool_) if free is None else free.copy()
    number = np.arange(groups)
    for diagonal in range(agents):
        candidate = (number + turn + diagonal) % agents
        offered = np.flatnonzero(waiting & missing[candidate, number])
        taken = offered[_within_budget(candidate[offered], size[offered], used, budget)]
        agent_of[taken] = candidate[taken]
        waiting[taken] = False
    return agent_of


def _within_budget(agent: IntArray, size: IntArray, used: IntArray, budget: int) -> BoolArray:
    """Return (offers,) which offers fit, in their order, and add them to `used`."""
    fits = np.zeros(len(agent), dtype=np.bool_)
    for one in np.unique(agent).tolist():
        offers = np.flatnonzero(agent == one)
        ends = used[one] + np.cumsum(size[offers])
        # Up to the first that does not fit; then only what still does, one by one.
        whole = int(np.searchsorted(ends, budget, side="right"))
        fits[offers[:whole]] = True
        load = int(ends[whole - 1]) if whole else int(used[one])
        for offer in offers[whole:].tolist():
            if load >= budget:
                break
            if load == 0 or load + size[offer] <= budget:
                fits[offer] = True
                load += int(size[offer])
        used[one] = load
    return fits


def all_waves(
    missing: BoolArray, budget: int, *, sizes: IntArray | None = None, turn: int = 0
) -> Iterator[IntArray]:
    """Yield one wave after the other, each as from `next_wave`, until no pair is missing.

    For a preview: in operation, waves overlap, as each agent finishes at its own pace.
    """
    left = missing.copy()
    while left.any():
        wave = next_wave(left, budget, turn=turn, sizes=sizes)
        ordered = np.flatnonzero(wave != NO_AGENT)
        left[wave[ordered], ordered] = False
        turn += 1
        yield wave
