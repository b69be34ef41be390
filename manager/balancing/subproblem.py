"""A part of the atoms as a separate problem, while the rest stays with its owners.

The rest is one pinned atom for each agent, so that every method sees the load without the
columns behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manager.balancing.arrays import IntArray
from manager.balancing.cost import agent_costs
from manager.balancing.problem import Atoms

__all__ = ["Subproblem", "subproblem_of"]


@dataclass(frozen=True)
class Subproblem:
    """atoms: the free ones, in their order, then what stays. free: which of the whole they are."""

    atoms: Atoms
    free: IntArray
    _owner: IntArray

    def whole(self, owner: IntArray) -> IntArray:
        """Return (atoms of the whole,) owners from owners of the part."""
        owners = self._owner.copy()
        owners[self.free] = owner[: len(self.free)]
        return owners


def subproblem_of(atoms: Atoms, owner: IntArray, free: IntArray) -> Subproblem:
    """Return the part in which only `free` may move.

    owner: (atoms,) complete but for `free`. free: indices of atoms that are not fixed.
    """
    count, agents = len(free), atoms.agents
    stays = owner.copy()
    stays[free] = -1
    costs = np.full((agents, count + agents), np.inf, dtype=atoms.costs.dtype)
    costs[:, :count] = atoms.costs[:, free]
    costs[np.arange(agents), count + np.arange(agents)] = agent_costs(atoms.costs, stays)
    part = Atoms(
        names=atoms.names,
        costs=costs,
        sizes=np.concatenate((atoms.sizes[free], np.zeros(agents, dtype=np.intp))),
        start=np.concatenate((atoms.start[free], np.arange(agents, dtype=np.intp))),
        fixed=np.concatenate((atoms.fixed[free], np.ones(agents, dtype=np.bool_))),
        of_unit=np.arange(count + agents, dtype=np.intp),
        edges=atoms.edges,
        near=atoms.near,
        unreached=0,
    )
    return Subproblem(part, free, stays)
