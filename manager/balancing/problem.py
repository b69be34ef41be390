"""The balancing problem: costs, present owners, and constraints for every method.

A `Problem` speaks of units, as the rest of the manager does. Methods work on `Atoms`: what must
stay with one agent (units that share an address) is one column, and what an agent may not have
costs it infinity there. So no method can split a group, move a pinned unit or use a forbidden
pair, because it cannot express it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from manager.balancing.arrays import NO_OWNER, BoolArray, FloatArray, IntArray, Matrix
from manager.balancing.errors import BalancingError
from manager.balancing.forecast.crawl_work import Work
from manager.balancing.give_and_move import tree_edges

__all__ = ["Atoms", "Problem", "collapse"]


def _no_edges() -> IntArray:
    return np.empty((0, 2), dtype=np.intp)


@dataclass(frozen=True)
class Problem:
    """Units, agents and what is known about them.

    names: (agents,). costs: (agents, units) ms, finite and >= 0 (see `cost.cost_matrix`).
    before: (units,) agent that owns the unit now, or NO_OWNER. edges: (edges, 2) the tree. near:
    (pairs, 2) further pairs that may exchange, as each agent's nearest.
    group: (units,) any integers; units with the same one share an address and stay together.
    pins: (units,) agent that must own the unit, or NO_OWNER. forbidden: (agents, units) never, by
    rule (a plain agent gets no directories). unreachable: (agents, units) not while another
    agent can. A pin outweighs both. work: what the time of the crawl depends on; None: only the
    transfer is known.
    Raises BalancingError where these contradict each other.
    """

    names: tuple[str, ...]
    costs: Matrix
    before: IntArray
    edges: IntArray = field(default_factory=_no_edges)
    group: IntArray | None = None
    pins: IntArray | None = None
    forbidden: BoolArray | None = None
    unreachable: BoolArray | None = None
    near: IntArray = field(default_factory=_no_edges)
    work: Work | None = None

    def __post_init__(self) -> None:
        agents, units = self.costs.shape
        if not agents:
            raise BalancingError("balancing.no_agents")
        if len(self.names) != agents:
            raise BalancingError("balancing.wrong_lengths", given=len(self.names), agents=agents)
        for name, owners in (("before", self.before), ("pins", self.pins)):
            if owners is None:
                continue
            _check_length(name, owners, units)
            if units and (owners.min() < NO_OWNER or owners.max() >= agents):
                raise BalancingError(
                    "balancing.owner_out_of_range", name=name, most=agents - 1, nobody=NO_OWNER
                )
        if self.group is not None:
            _check_length("group", self.group, units)
        for name, mask in (("forbidden", self.forbidden), ("unreachable", self.unreachable)):
            if mask is not None and mask.shape != self.costs.shape:
                raise BalancingError(
                    "balancing.wrong_shape", name=name, shape=mask.shape, wanted=self.costs.shape
                )
        tree_edges(self.edges, agents)
        tree_edges(self.near, agents)
        for agent, row in enumerate(self.costs):
            if units and not (row.min() >= 0 and np.isfinite(row.max())):
                raise BalancingError("balancing.bad_costs", agent=self.names[agent])


def _check_length(name: str, owners: IntArray, units: int) -> None:
    if owners.shape != (units,):
        raise BalancingError(
            "balancing.wrong_shape", name=name, shape=owners.shape, wanted=(units,)
        )


@dataclass(frozen=True)
class Atoms:
    """Atoms to place: each column goes to one agent, as a whole.

    costs: (agents, atoms) ms, inf where the agent may not have it; every column has a finite
    entry. sizes: (atoms,) units inside. start: (atoms,) present owner or NO_OWNER; never a
    forbidden one. fixed: (atoms,) pinned; `start` is then where it belongs. of_unit: (units,)
    the atom of each unit. unreached: how many atoms no agent reaches as a whole; for these the
    unreachable pairs had to be allowed.
    """

    names: tuple[str, ...]
    costs: Matrix
    sizes: IntArray
    start: IntArray
    fixed: BoolArray
    of_unit: IntArray
    edges: IntArray
    near: IntArray
    unreached: int

    @property
    def agents(self) -> int:
        """Return the number of agents."""
        return len(self.names)

    @property
    def count(self) -> int:
        """Return the number of atoms."""
        return len(self.sizes)

    def expand(self, owner: IntArray) -> IntArray:
        """Return (units,) owners from (atoms,) owners."""
        return owner[self.of_unit]


def collapse(problem: Problem) -> Atoms:
    """Make one atom of each group, apply pins and forbidden pairs, and find the present owners.

    A group that is split today starts with the agent that holds most of its cost. An owner that
    may no longer have the atom (another agent's pin, unreachable) does not count.
    """
    units = problem.costs.shape[1]
    if problem.group is None:
        of_unit, count = np.arange(units, dtype=np.intp), units
    else:
        labels, inverse = np.unique(problem.group, return_inverse=True)
        of_unit, count = inverse.astype(np.intp), len(labels)
    costs = _summed(problem.costs, of_unit, count)
    pin = _atom_pins(problem, of_unit, count)
    fixed = pin != NO_OWNER
    barred, unreached = _barred(problem, of_unit, count, fixed)
    for agent, (row, bar) in enumerate(zip(costs, barred, strict=True)):
        row[np.where(fixed, pin != agent, bar)] = np.inf
    start = _largest_holder(problem, of_unit, count)
    held = np.flatnonzero(start != NO_OWNER)
    start[held[np.isinf(costs[start[held], held])]] = NO_OWNER
    return Atoms(
        names=problem.names,
        costs=costs,
        sizes=np.bincount(of_unit, minlength=count).astype(np.intp),
        start=np.where(fixed, pin, start),
        fixed=fixed,
        of_unit=of_unit,
        edges=problem.edges,
        near=problem.near,
        unreached=unreached,
    )


def _summed(costs: Matrix, of_unit: IntArray, count: int) -> Matrix:
    """Return (agents, atoms) sums over each atom's units, as a new array of the same type."""
    if count == len(of_unit):
        return np.ascontiguousarray(costs[:, np.argsort(of_unit)])
    summed = np.empty((len(costs), count), dtype=costs.dtype)
    for agent, row in enumerate(costs):
        summed[agent] = np.bincount(of_unit, weights=row, minlength=count)
    return summed


def _barred(
    problem: Problem, of_unit: IntArray, count: int, fixed: BoolArray
) -> tuple[BoolArray, int]:
    """Return (agents, atoms) the barred pairs, and how many atoms no agent reaches."""
    barred = _any_member(problem.forbidden, problem, of_unit, count)
    never = np.flatnonzero(barred.all(axis=0) & ~fixed)
    if len(never):
        unit = np.flatnonzero(of_unit == never[0])[0]
        raise BalancingError("balancing.forbidden_to_all", unit=int(unit))
    reach = barred | _any_member(problem.unreachable, problem, of_unit, count)
    lost = np.asarray(reach.all(axis=0)) & ~fixed
    return np.where(lost, barred, reach), int(lost.sum())


def _any_member(
    mask: BoolArray | None, problem: Problem, of_unit: IntArray, count: int
) -> BoolArray:
    """Return (agents, atoms): the mask holds for at least one unit of the atom."""
    held = np.zeros((len(problem.names), count), dtype=np.bool_)
    if mask is not None:
        for agent, row in enumerate(mask):
            held[agent, of_unit[row]] = True
    return held


def _atom_pins(problem: Problem, of_unit: IntArray, count: int) -> IntArray:
    """Return (atoms,) the pinned agent or NO_OWNER; refuse two pins that cannot both hold."""
    pin = np.full(count, NO_OWNER, dtype=np.intp)
    if problem.pins is None:
        return pin
    pinned = np.flatnonzero(problem.pins != NO_OWNER)
    wanted = problem.pins[pinned]
    pin[of_unit[pinned]] = wanted
    clash = np.flatnonzero(pin[of_unit[pinned]] != wanted)
    if len(clash):
        unit = pinned[clash[0]]
        raise BalancingError(
            "balancing.conflicting_pins",
            unit=int(unit),
            agent=problem.names[problem.pins[unit]],
            other=problem.names[pin[of_unit[unit]]],
        )
    return pin


def _largest_holder(problem: Problem, of_unit: IntArray, count: int) -> IntArray:
    """Return (atoms,) the agent that holds most of the atom's cost now (the first of equals)."""
    start = np.full(count, NO_OWNER, dtype=np.intp)
    held = np.flatnonzero(problem.before != NO_OWNER)
    owner = problem.before[held]
    if count == len(of_unit):
        start[of_unit[held]] = owner
        return start
    agents = len(problem.names)
    keys, inverse = np.unique(of_unit[held] * agents + owner, return_inverse=True)
    share: FloatArray = np.bincount(
        inverse, weights=problem.costs[owner, held], minlength=len(keys)
    ).astype(np.float64)
    atom, agent = keys // agents, keys % agents
    # The last write wins below, so the largest share comes last, and of equals the first agent.
    order = np.lexsort((-agent, share, atom))
    start[atom[order]] = agent[order]
    return start
