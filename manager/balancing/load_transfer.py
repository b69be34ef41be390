"""Ease the busiest agent, again and again: the last few per cent after a greedy fill.

Each step moves one atom from the agent with the greatest cost to one that ends below that, the
atom that costs its taker least for what it spares the giver. Where no agent has room for one, the
taker gives another atom to a third. Invariant: the makespan never rises.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from manager.balancing.arrays import FloatArray, IntArray, Matrix
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.problem import Atoms

__all__ = ["ease_busiest"]

_SMALLEST_GAIN: Final = 1e-9
"""A fraction of the load: less is rounding, and could go back and forth for ever."""
_LEAST_OF_EXCESS: Final = 0.1
"""Share of the load above the mean: atoms at least as large are moved first."""
_FIRST_TRIED: Final = 64
"""Pairs of an atom and its taker, where the taker must pass one on."""


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
        # Dust would use the moves up: what counts is a part of the excess, while there is any.
        weighty = helps[:, own >= _LEAST_OF_EXCESS * (longest - loads.mean())]
        if weighty.any():
            helps[:, own < _LEAST_OF_EXCESS * (longest - loads.mean())] = False
        if helps.any():
            worth = np.where(helps, theirs, np.inf) / np.where(own > 0, own, 1.0)
            taker, column = np.unravel_index(int(worth.argmin()), worth.shape)
            steps = [(int(mine[column]), int(taker))]
        else:
            steps = _passed_on(costs, eased, loads, longest, busiest)
        if not steps:
            break
        for atom, to in steps:
            loads[eased[atom]] -= costs[eased[atom], atom]
            loads[to] += costs[to, atom]
            eased[atom] = to
    return eased


def _passed_on(
    costs: Matrix, owner: IntArray, loads: FloatArray, longest: float, busiest: int
) -> list[tuple[int, int]]:
    """Return (atom, taker) of two moves: of an atom of the busiest, and of one that makes room.

    Of the first atoms those are tried that cost their takers least for what they spare.
    """
    limit = longest * (1 - _SMALLEST_GAIN)
    mine = np.flatnonzero(owner == busiest)
    own = costs[busiest, mine]
    worth = costs[:, mine] / np.where(own > 0, own, 1.0)
    worth[busiest] = np.inf
    worth[:, own <= 0] = np.inf
    best: tuple[float, list[tuple[int, int]]] = (np.inf, [])
    for place in np.argsort(worth, axis=None, kind="stable")[:_FIRST_TRIED]:
        taker, column = np.unravel_index(int(place), worth.shape)
        if not np.isfinite(worth[taker, column]):
            break
        over = loads[taker] + costs[taker, mine[column]] - limit
        theirs = np.flatnonzero((owner == taker) & (costs[taker] > over))
        ends = costs[:, theirs] + loads[:, None]
        ends[busiest] += -own[column]
        fits = ends < limit
        fits[taker] = False
        added = np.where(fits, costs[:, theirs] - costs[taker, theirs], np.inf)
        if not added.size:
            continue
        third, passed = np.unravel_index(int(added.argmin()), added.shape)
        cost = float(costs[taker, mine[column]] - own[column] + added[third, passed])
        if np.isfinite(cost) and cost < best[0]:
            atoms = (int(mine[column]), int(taker)), (int(theirs[passed]), int(third))
            best = (cost, list(atoms))
    return best[1]
