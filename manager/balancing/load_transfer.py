"""Ease the busiest agent, again and again: the last few per cent after a greedy fill.

Each step moves one atom from the agent with the greatest cost to one that ends below that, the
atom that costs its taker least for what it spares the giver. Invariant: the makespan never rises.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from manager.balancing.arrays import IntArray
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.problem import Atoms

__all__ = ["ease_busiest"]

_SMALLEST_GAIN: Final = 1e-9
"""A fraction of the load: less is rounding, and could go back and forth for ever."""


def ease_busiest(atoms: Atoms, owner: IntArray, *, enough_ms: float, most_moves: int) -> IntArray:
    """Return (atoms,) owners whose makespan is at most that of `owner`.

    owner: complete, each with a finite cost. Stops at a makespan of `enough_ms`, after
    `most_moves`, or when no single atom helps.
    """
    costs = atoms.costs
    eased = owner.copy()
    loads = agent_costs(costs, eased)
    for _ in range(most_moves):
        longest, busiest = makespan(loads)
        if longest <= enough_ms:
            break
        mine = np.flatnonzero(eased == busiest)
        theirs = costs[:, mine]
        own = theirs[busiest]
        helps = theirs + loads[:, None] < longest * (1 - _SMALLEST_GAIN)
        helps[busiest] = False
        helps[:, own <= 0] = False
        if not helps.any():
            break
        worth = np.where(helps, theirs, np.inf) / np.where(own > 0, own, 1.0)
        taker, column = np.unravel_index(int(worth.argmin()), worth.shape)
        atom = mine[column]
        eased[atom] = taker
        loads[busiest] -= costs[busiest, atom]
        loads[taker] += costs[taker, atom]
    return eased
