"""The first assignment, when nothing is known: at random, with even counts.

Source: seed 004, 5.2.1 (the initial state) and `make_random_list.pl`. Also the yardstick that
every other method is measured against.
"""

from __future__ import annotations

import numpy as np

from manager.balancing.arrays import IntArray
from manager.balancing.problem import Atoms

__all__ = ["deal_at_random"]


def deal_at_random(atoms: Atoms, rng: np.random.Generator) -> IntArray:
    """Return (atoms,) owners: shuffled, then dealt one by one to whoever holds the fewest units.

    Without pins, groups and forbidden pairs that is a deal round robin in a random order of
    agents, so that counts differ by one at most. Pinned atoms are dealt first, to their agent;
    costs decide nothing, and present owners count for nothing. Equal seeds give equal deals.
    """
    turn = rng.permutation(atoms.agents)
    owner = np.where(atoms.fixed, atoms.start, 0)
    counts = np.bincount(
        owner[atoms.fixed], weights=atoms.sizes[atoms.fixed], minlength=atoms.agents
    )[turn]
    free = rng.permutation(np.flatnonzero(~atoms.fixed))
    allowed = np.isfinite(atoms.costs[turn][:, free]).T
    for atom, may in zip(free, allowed, strict=True):
        seat = int(np.where(may, counts, np.inf).argmin())
        owner[atom] = turn[seat]
        counts[seat] += atoms.sizes[atom]
    return np.asarray(owner, dtype=np.intp)
