"""Round the relaxation: whole atoms stay where it has them, the few divided ones are placed.

The best known start where it can be afforded; what it costs over `prices` is time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from manager.balancing.arrays import IntArray
from manager.balancing.bound import Bound
from manager.balancing.easing import ease_busiest
from manager.balancing.placing import place
from manager.balancing.problem import Atoms
from manager.balancing.relaxation import Relaxed, relax

__all__ = ["Rounded", "assign_by_lp"]

_MOST_MOVES: Final = 3_000
_NEAR_ENOUGH: Final = 1.001


@dataclass(frozen=True)
class Rounded:
    """owner: (atoms,) complete. relaxed: what was rounded."""

    owner: IntArray
    relaxed: Relaxed


def assign_by_lp(atoms: Atoms, bound: Bound) -> Rounded:
    """Return the rounded and eased relaxation. Raises BalancingError where it is too large."""
    relaxed = relax(atoms, bound)
    least = max(relaxed.makespan_ms, bound.makespan_ms)
    placed = place(replace(atoms, start=relaxed.owner), ceiling_ms=least)
    eased = ease_busiest(atoms, placed, enough_ms=_NEAR_ENOUGH * least, most_moves=_MOST_MOVES)
    return Rounded(eased, relaxed)
