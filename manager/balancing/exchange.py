"""Two agents at a time: pool what both hold, and cut where their costs meet.

Sorted by the ratio of the two costs, the first part of the pool is cheap for one agent and the rest
for the other: where atoms could be divided, no other division of the pool would be better. Unlike
the tree's Move, which only lowers a difference, an exchange moves in both directions and so uses
that agents are near to different hosts.
Invariants: each atom keeps exactly one owner that may have it, fixed ones stay, and of two agents
the greater cost falls with each exchange, so the makespan never rises and there is an end.
Who exchanges with whom is the caller's: the edges of the tree, and the nearest neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from manager.balancing.arrays import FloatArray, IntArray, Matrix
from manager.balancing.cost import agent_costs
from manager.balancing.problem import Atoms

__all__ = ["Exchanged", "exchange"]

_MOST_SWEEPS: Final = 60
"""Measured at 17 x 6,500: 5 to 20 until no exchange helps."""
_LEAST_GAIN: Final = 1e-3
"""Of the greater cost: less is far below what the next measurement differs by."""


@dataclass(frozen=True)
class Exchanged:
    """owner: (atoms,). sweeps: how often all pairs were asked. exchanges: how many gained."""

    owner: IntArray
    sweeps: int
    exchanges: int


def exchange(atoms: Atoms, start: IntArray, pairs: IntArray) -> Exchanged:
    """Return the owners after sweeps over `pairs`, until none gains.

    start: (atoms,) a complete assignment in which every owner may have what it owns. pairs:
    (pairs, 2) agents; in each sweep those whose costs differ most come first.
    """
    owner = start.copy()
    loads = agent_costs(atoms.costs, owner)
    held = [np.flatnonzero((owner == agent) & ~atoms.fixed) for agent in range(atoms.agents)]
    sweeps = exchanges = 0
    while sweeps < _MOST_SWEEPS:
        sweeps += 1
        gap = np.abs(loads[pairs[:, 0]] - loads[pairs[:, 1]])
        gained = 0
        for first, second in pairs[np.argsort(-gap, kind="stable")].tolist():
            shared = _shared(atoms.costs, held[first], held[second], first, second)
            cut = _cut(atoms.costs, shared, owner, first, second, loads)
            if cut is None:
                continue
            owner[shared], loads[first], loads[second] = cut
            pool = np.concatenate((held[first], held[second]))
            held[first], held[second] = pool[owner[pool] == first], pool[owner[pool] == second]
            gained += 1
        exchanges += gained
        if not gained:
            break
    return Exchanged(owner, sweeps, exchanges)


def _shared(costs: Matrix, one: IntArray, other: IntArray, first: int, second: int) -> IntArray:
    """Return which of two agents' atoms both may have."""
    return np.concatenate(
        (one[np.isfinite(costs[second, one])], other[np.isfinite(costs[first, other])])
    )


def _cut(
    costs: Matrix, pool: IntArray, owner: IntArray, first: int, second: int, loads: FloatArray
) -> tuple[IntArray, float, float] | None:
    """Return owners of the pool and both loads at the best cut; None where nothing is gained."""
    here = costs[first, pool].astype(np.float64)
    there = costs[second, pool].astype(np.float64)
    mine = owner[pool] == first
    base_first = max(0.0, float(loads[first] - here[mine].sum()))
    base_second = max(0.0, float(loads[second] - there[~mine].sum()))
    # The share of the first in both costs sorts as their ratio does, and is a number at 0 too.
    both = here + there
    share = np.divide(here, both, out=np.full(len(pool), 0.5), where=both > 0)
    order = np.argsort(share, kind="stable")
    of_first = base_first + np.concatenate(([0.0], np.cumsum(here[order])))
    of_second = base_second + np.concatenate(([0.0], np.cumsum(there[order][::-1])))[::-1]
    greater = np.maximum(of_first, of_second)
    at = int(greater.argmin())
    if greater[at] >= max(loads[first], loads[second]) * (1 - _LEAST_GAIN):
        return None
    owners = np.full(len(pool), second, dtype=np.intp)
    owners[order[:at]] = first
    return owners, float(of_first[at]), float(of_second[at])
