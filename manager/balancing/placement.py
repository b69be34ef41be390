"""Placement of atoms without an owner; all other atoms stay.

New hosts arrive each round, and agents leave; every method that keeps placed atoms begins here.
Invariant: afterwards each atom has exactly one owner that may have it, and placed atoms stay.
"""

from __future__ import annotations

import numpy as np

from manager.balancing.arrays import NO_OWNER, IntArray
from manager.balancing.cost import agent_costs
from manager.balancing.problem import Atoms

__all__ = ["place"]


def place(atoms: Atoms, *, ceiling_ms: float = 0.0) -> IntArray:
    """Return (atoms,) owners: `atoms.start`, with an owner for each atom that had none.

    The dearest first. Each goes to the agent for which it is cheapest among those that it does
    not push over the ceiling, the greater of the present makespan and `ceiling_ms`; if it
    pushes all over, to the agent that ends lowest.
    """
    owner = atoms.start.copy()
    waiting = np.flatnonzero(owner == NO_OWNER)
    if not len(waiting):
        return owner
    loads = agent_costs(atoms.costs, owner)
    ceiling = max(float(loads.max()), ceiling_ms)
    columns = np.ascontiguousarray(atoms.costs[:, waiting].T)
    for place_in_line in np.argsort(-columns.min(axis=1), kind="stable"):
        column = columns[place_in_line]
        ends = loads + column
        fits = ends <= ceiling
        agent = int(np.where(fits, column, np.inf).argmin() if fits.any() else ends.argmin())
        owner[waiting[place_in_line]] = agent
        loads[agent] = ends[agent]
        ceiling = max(ceiling, float(ends[agent]))
    return owner
