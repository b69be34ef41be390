"""The method `lp`: the relaxation, in which atoms may be divided, is solved and rounded.

The linear program: shares x_ij >= 0 of atom j with agent i, sum_i x_ij = 1, sum_j c_ij x_ij <= T, T
least. No assignment of whole atoms has a smaller makespan than T. A vertex of it divides at most as
many atoms as there are agents, so it is nearly an assignment already.
Most of agents x atoms pairs are in no solution: HiGHS begins with those that the bound's prices
make likely, and gets those that its own prices then ask for, until they ask for none.
In rounding, whole atoms stay where they are, and the few divided ones are placed. Where a large
atom is divided, rounding it shifts much cost at once. So it is given to the agent with the largest
share of it, and the relaxation of the rest solved again, until only small ones are divided.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from manager.balancing.arrays import NO_OWNER, BoolArray, FloatArray, IntArray
from manager.balancing.bound import Bound
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.errors import BalancingError
from manager.balancing.load_transfer import ease_busiest
from manager.balancing.placement import place
from manager.balancing.problem import Atoms

__all__ = ["MOST_ATOMS", "Relaxed", "Rounded", "assign_by_lp", "relax"]

MOST_ATOMS: Final = 20_000
"""Movable ones. 17 agents x 6,500 take a second, 50 x 20,000 half a minute, and it grows."""
_AT_FIRST: Final = 3
"""The likeliest pairs of each atom to begin with."""
_MOST_ROUNDS: Final = 50
_LONGEST_S: Final = 300.0
_TOLERANCE: Final = 1e-7
_WHOLE: Final = 1 - 1e-6


@dataclass(frozen=True)
class Relaxed:
    """Result of the relaxation. owner: (atoms,) `NO_OWNER` for an atom that it divides.

    largest_share: (atoms,) the agent with the greatest share of each.
    """

    makespan_ms: float
    owner: IntArray
    largest_share: IntArray

    @property
    def divided(self) -> int:
        """Return how many atoms it divides, at most as many as there are agents."""
        return int(np.count_nonzero(self.owner == NO_OWNER))


def relax(atoms: Atoms, bound: Bound) -> Relaxed:
    """Solve the relaxation. Raises BalancingError for more than MOST_ATOMS movable atoms.

    bound: from `lower_bound(atoms.costs)`; its prices only say where to begin.
    """
    free = np.flatnonzero(~atoms.fixed)
    if len(free) > MOST_ATOMS:
        raise BalancingError("balancing.too_many_hosts", hosts=len(free), most=MOST_ATOMS)
    owner = np.where(atoms.fixed, atoms.start, NO_OWNER)
    base = agent_costs(atoms.costs, owner)
    if not len(free):
        return Relaxed(float(base.max()), owner, owner)
    scale = bound.makespan_ms or 1.0
    costs = np.asarray(atoms.costs[:, free] / scale, dtype=np.float64)
    # No agent ends before the longest atom does where it is shortest, nor before what is fixed.
    least = max(float(costs.min(axis=0).max()), float(base.max()) / scale)
    program = _Program(costs, base / scale, least)
    wanted = _likely(costs, bound.prices)
    for _ in range(_MOST_ROUNDS):
        program.add(wanted)
        program.solve()
        wanted = program.asked_for()
        if not wanted.any():
            break
    else:
        raise BalancingError("balancing.no_optimum")
    agents, columns, shares = program.shares()
    whole = shares >= _WHOLE
    owner[free[columns[whole]]] = agents[whole]
    largest_share = owner.copy()
    order = np.argsort(shares, kind="stable")  # the last write wins, so the greatest comes last
    largest_share[free[columns[order]]] = agents[order]
    return Relaxed(program.makespan * scale, owner, largest_share)


def _likely(costs: FloatArray, prices: FloatArray) -> BoolArray:
    """Return (agents, atoms): the few cheapest at these prices."""
    priced = costs * prices[:, None]
    count = min(_AT_FIRST, len(priced))
    order = np.argpartition(priced, count - 1, axis=0)[:count]
    likely = np.zeros(costs.shape, dtype=np.bool_)
    np.put_along_axis(likely, order, True, axis=0)
    return np.asarray(likely & np.isfinite(costs))


class _Program:
    """The linear program in HiGHS. Column 0 is T; rows are the atoms, then the agents."""

    def __init__(self, costs: FloatArray, base: FloatArray, least: float) -> None:
        # 50 ms and 10 MB that only this method needs.
        import highspy  # noqa: PLC0415 - see above

        self._costs = costs
        agents, atoms = costs.shape
        self._inside = np.zeros(costs.shape, dtype=np.bool_)
        self._agent = np.empty(0, dtype=np.intp)
        self._atom = np.empty(0, dtype=np.intp)
        self._optimal = highspy.HighsModelStatus.kOptimal
        make: Any = highspy.Highs
        self._highs: Any = make()
        for name, value in (
            ("output_flag", False),
            ("parallel", "off"),
            ("solver", "simplex"),
            ("time_limit", _LONGEST_S),
        ):
            self._highs.setOptionValue(name, value)
        infinity = highspy.kHighsInf
        none = np.empty(0)
        no_index = np.empty(0, dtype=np.int32)
        self._highs.addRows(
            atoms + agents,
            np.concatenate((np.ones(atoms), np.full(agents, -infinity))),
            np.concatenate((np.ones(atoms), -base)),
            0,
            np.zeros(atoms + agents, dtype=np.int32),
            no_index,
            none,
        )
        rows = np.arange(atoms, atoms + agents, dtype=np.int32)
        self._infinity = infinity
        start = np.zeros(1, dtype=np.int32)
        self._add(np.ones(1), np.array([least]), start, rows, np.full(agents, -1.0))

    def add(self, wanted: BoolArray) -> None:
        """Assign atoms to agents, (agents, atoms)."""
        atom, agent = np.nonzero(wanted.T)
        self._inside |= wanted
        self._agent = np.concatenate((self._agent, agent))
        self._atom = np.concatenate((self._atom, atom))
        count = len(atom)
        index = np.empty(2 * count, dtype=np.int32)
        index[0::2], index[1::2] = atom, self._costs.shape[1] + agent
        value = np.empty(2 * count)
        value[0::2], value[1::2] = 1.0, self._costs[agent, atom]
        starts = np.arange(0, 2 * count, 2, dtype=np.int32)
        self._add(np.zeros(count), np.zeros(count), starts, index, value)

    def _add(
        self,
        objective: FloatArray,
        least: FloatArray,
        starts: npt.NDArray[np.int32],
        index: npt.NDArray[np.int32],
        value: FloatArray,
    ) -> None:
        count = len(objective)
        self._highs.addCols(
            count,
            objective,
            least,
            np.full(count, self._infinity),
            len(index),
            starts,
            index,
            value,
        )

    def solve(self) -> None:
        """Solve the problem. Raises BalancingError."""
        self._highs.run()
        status = self._highs.getModelStatus()
        if status != self._optimal:
            raise BalancingError(
                "balancing.solver_ended", status=self._highs.modelStatusToString(status)
            )

    @property
    def makespan(self) -> float:
        return float(self._highs.getInfo().objective_function_value)

    def asked_for(self) -> BoolArray:
        """Return (agents, atoms): pairs left out so far that would make T smaller."""
        dual = np.array(self._highs.getSolution().row_dual)
        atoms = self._costs.shape[1]
        of_atom, of_agent = dual[:atoms], np.maximum(-dual[atoms:], 0.0)
        finite = np.isfinite(self._costs)
        reduced = np.where(finite, self._costs, 0.0) * of_agent[:, None] - of_atom
        return np.asarray((reduced < -_TOLERANCE) & finite & ~self._inside)

    def shares(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return agent, atom and share of each pair inside."""
        return self._agent, self._atom, np.array(self._highs.getSolution().col_value)[1:]


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
