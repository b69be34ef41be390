"""Balance by prices: each atom goes where price times cost is least, then a fill evens the rest.

The prices are those that prove the lower bound; one number per agent says how dear its time is.
The plain choice leaves the makespan 9 to 33% above the bound, because whole units cannot be cut
where the relaxation cuts them; so units are taken in the order of their regret (what the second
choice costs more than the first) and each gets its cheapest agent that still has room under a
target just above the bound, and the best fills are eased (see `easing`). Meant for the first
placement and for great change: it looks at present owners only to place what is pinned, and moves
whatever it likes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from manager.balancing.arrays import FloatArray, IntArray, Matrix
from manager.balancing.bound import Bound
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.load_transfer import ease_busiest
from manager.balancing.problem import Atoms

__all__ = ["Filled", "assign_by_prices"]

_TARGETS: Final = (1.0, 1.0025, 1.005, 1.01, 1.015, 1.02, 1.03, 1.05)
"""How far above the bound a fill may load an agent."""
_EASED: Final = 2
"""How many of the fills are eased: the best before is often not the best after."""
_MOST_MOVES: Final = 3_000
_MOST_CELLS: Final = 100_000_000
"""Looked at while easing: a move looks at as many as there are atoms, so 500,000 get 200 moves."""
_NEAR_ENOUGH: Final = 1.002
"""Over the bound; what is measured next round differs by far more."""
_BLOCK: Final = 512


@dataclass(frozen=True)
class Filled:
    """owner: (atoms,). target: the multiple of the bound that the fill allowed each agent."""

    owner: IntArray
    target: float


def assign_by_prices(atoms: Atoms, bound: Bound) -> Filled:
    """Return the best of several fills at the bound's prices, eased.

    bound: from `lower_bound(atoms.costs)`. Deterministic: equal costs give equal plans.
    """
    by_regret = _in_order_of_regret(atoms.costs, bound)
    columns = np.ascontiguousarray(atoms.costs[:, by_regret].T)
    fills: list[tuple[float, Filled]] = []
    for target in _TARGETS:
        owner = np.empty(atoms.count, dtype=np.intp)
        owner[by_regret] = _fill(columns, bound.prices, target * bound.makespan_ms)
        reached, _ = makespan(agent_costs(atoms.costs, owner))
        fills.append((reached, Filled(owner, target)))
        if reached <= target * bound.makespan_ms:
            break  # all fits, and a higher target would be used up
    fills.sort(key=lambda fill: fill[0])
    eased: list[tuple[float, Filled]] = []
    for _, fill in fills[:_EASED]:
        owner = ease_busiest(
            atoms,
            fill.owner,
            enough_ms=_NEAR_ENOUGH * bound.makespan_ms,
            most_moves=min(_MOST_MOVES, _MOST_CELLS // max(1, atoms.count)),
        )
        eased.append((makespan(agent_costs(atoms.costs, owner))[0], Filled(owner, fill.target)))
    return min(eased, key=lambda fill: fill[0])[1]


def _in_order_of_regret(costs: Matrix, bound: Bound) -> IntArray:
    """Return atoms with the greatest regret first; those with one agent that can fit them lead."""
    agents, atoms = costs.shape
    if agents == 1:
        return np.arange(atoms, dtype=np.intp)
    regret = np.empty(atoms)
    largest = bound.makespan_ms * _TARGETS[-1]
    for start in range(0, atoms, _BLOCK):
        part = slice(start, start + _BLOCK)
        block = costs[:, part]
        priced = np.where(block <= largest, block * bound.prices[:, None], np.inf)
        lowest = np.partition(priced, 1, axis=0)[:2]
        regret[part] = lowest[1] - lowest[0]
    return np.argsort(-regret, kind="stable")


def _fill(columns: Matrix, prices: FloatArray, target_ms: float) -> IntArray:
    """Return (atoms,) owners for `columns` (atoms, agents), in their order.

    In a block, an agent with room for all its first choices gets them at once; only the other
    atoms go singly to the cheapest agent with room, else to the one that ends lowest.
    """
    atoms, agents = columns.shape
    owner = np.empty(atoms, dtype=np.intp)
    loads = np.zeros(agents)
    for start in range(0, atoms, _BLOCK):
        block = columns[start : start + _BLOCK]
        priced = np.where(block <= target_ms, block * prices, np.inf)
        first = priced.argmin(axis=1)
        costs = block[np.arange(len(block)), first]
        asked = np.bincount(first, weights=costs, minlength=agents)
        room_for_all = loads + asked <= target_ms
        owner[start : start + _BLOCK] = first
        loads += np.where(room_for_all, asked, 0.0)
        for offset in np.flatnonzero(~room_for_all[first]).tolist():
            ends = loads + block[offset]
            room = ends <= target_ms
            agent = int(
                np.where(room, priced[offset], np.inf).argmin() if room.any() else ends.argmin()
            )
            owner[start + offset] = agent
            loads[agent] = ends[agent]
    return owner
