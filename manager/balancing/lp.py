"""Round the relaxation: whole atoms stay where it has them, the few divided ones are placed.

Where a large atom is divided, rounding it shifts much cost at once. So it is given to the agent
with the largest share of it, and the relaxation of the rest solved again, until only small ones are
divided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from manager.balancing.arrays import NO_OWNER, IntArray
from manager.balancing.bound import Bound
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.load_transfer import ease_busiest
from manager.balancing.placement import place
from manager.balancing.problem import Atoms
from manager.balancing.relaxation import Relaxed, relax

__all__ = ["Rounded", "assign_by_lp"]

_MOST_MOVES: Final = 3_000
_NEAR_ENOUGH: Final = 1.001
_SMALL: Final = 0.002
"""Share of the makespan: the later easing corrects the shift by so small an atom."""
_MOST_TIMES: Final = 4


@dataclass(frozen=True)
class Rounded:
    """owner: (atoms,) complete. relaxed: of all atoms."""

    owner: IntArray
    relaxed: Relaxed


def assign_by_lp(atoms: Atoms, bound: Bound) -> Rounded:
    """Return the best of the rounded and eased relaxations. Raises BalancingError if too large."""
    first = relaxed = relax(atoms, bound)
    least = max(first.makespan_ms, bound.makespan_ms)
    cheapest = atoms.costs.min(axis=0, initial=np.inf)
    best, best_ms = atoms.start, np.inf
    rest = atoms
    for _ in range(_MOST_TIMES):
        placed = place(replace(rest, start=relaxed.owner), ceiling_ms=least)
        eased = ease_busiest(rest, placed, enough_ms=_NEAR_ENOUGH * least, most_moves=_MOST_MOVES)
        reached, _ = makespan(agent_costs(atoms.costs, eased))
        if reached < best_ms:
            best, best_ms = eased, reached
        large = (relaxed.owner == NO_OWNER) & (cheapest > _SMALL * least)
        if reached <= _NEAR_ENOUGH * least or not large.any():
            break
        rest = replace(
            rest,
            start=np.where(large, relaxed.largest_share, rest.start),
            fixed=rest.fixed | large,
        )
        relaxed = relax(rest, bound)
    return Rounded(best, first)
