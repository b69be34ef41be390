"""The source's equalisation: neighbours on the spanning tree hand units to each other.

A step computes Give and Move from the present costs. Each agent then chooses units for the
neighbours that still have Move left: a unit goes to the nearest of them, and what moved is
counted at the giver's cost. The source ends a step when Move is used up and so refuses a unit
that is larger than Move; one such unit, thirty times cheaper at a neighbour, is where it sticks.
The rule `improves` asks instead whether the greater of the two costs falls.
Invariants: each atom keeps exactly one owner, fixed ones never move, and the assignment handed
back is the best one seen: the maximum may rise for a step, the result never lies above the start.
Source: seed 004, section 5.2.1, steps 1 to 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from manager.balancing.arrays import NO_OWNER, FloatArray, IntArray, Matrix
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.errors import BalancingError
from manager.balancing.give_and_move import give, move
from manager.balancing.problem import Atoms

__all__ = ["Accept", "TreeOptions", "TreeResult", "TreeStep", "equalise"]

Accept = Literal["source", "improves"]


@dataclass(frozen=True)
class TreeOptions:
    """Limits of the iteration, and the accepted result.

    steps: exactly that many, unless nothing moves; None: until `patience` steps in a row brought
    no better makespan, at most `max_steps`. accept: `source` hands over atoms that fit in Move,
    `improves` those that lower the greater of the two costs by more than `min_gain_ms`.
    """

    steps: int | None = None
    max_steps: int = 200
    patience: int = 10
    accept: Accept = "improves"
    min_gain_ms: float = 0.0

    def __post_init__(self) -> None:
        for name in ("steps", "max_steps", "patience"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise BalancingError("balancing.too_small", name=name, value=value, least=0)
        if self.min_gain_ms < 0:
            raise BalancingError(
                "balancing.too_small", name="min_gain_ms", value=self.min_gain_ms, least=0
            )


@dataclass(frozen=True)
class TreeStep:
    """Wanted and actual flow of one step. Edge arrays are positive from first end to second.

    edges: (edges, 2) agents. loads_before, loads_after: (agents,) ms. wanted: (edges,) Move.
    moved: (edges,) ms at the giver. units: (edges,) how many went along the edge. makespan_ms,
    busiest: after the step.
    """

    number: int
    edges: IntArray
    loads_before: FloatArray
    wanted: FloatArray
    moved: FloatArray
    units: IntArray
    loads_after: FloatArray
    makespan_ms: float
    busiest: int


@dataclass(frozen=True)
class TreeResult:
    """owner: (atoms,) the best assignment seen, after step `best_step` (0: the start)."""

    owner: IntArray
    steps: tuple[TreeStep, ...]
    best_step: int


def equalise(atoms: Atoms, start: IntArray, options: TreeOptions) -> TreeResult:
    """Return the best assignment that steps along `atoms.edges` reach from `start`.

    start: (atoms,) a complete assignment in which every owner may have what it owns.
    """
    owner = start.copy()
    best, best_step = owner.copy(), 0
    least, _ = makespan(agent_costs(atoms.costs, owner))
    ways = _ways_out(atoms)
    steps: list[TreeStep] = []
    limit = options.max_steps if options.steps is None else options.steps
    for number in range(1, limit + 1):
        done = _step(atoms, ways, owner, number, options)
        if not done.units.any():
            break
        steps.append(done)
        if done.makespan_ms < least:
            best, best_step, least = owner.copy(), number, done.makespan_ms
        if options.steps is None and number - best_step >= options.patience:
            break
    return TreeResult(best, tuple(steps), best_step)


@dataclass(frozen=True)
class _Way:
    """One edge as its giver sees it; `sign` is +1 where the giver is the edge's first end."""

    edge: int
    taker: int
    sign: int


def _ways_out(atoms: Atoms) -> list[list[_Way]]:
    """Return each agent's edges, in the order of the edges."""
    ways: list[list[_Way]] = [[] for _ in range(atoms.agents)]
    for edge, (first, second) in enumerate(atoms.edges.tolist()):
        ways[first].append(_Way(edge, second, 1))
        ways[second].append(_Way(edge, first, -1))
    return ways


def _step(
    atoms: Atoms, ways: list[list[_Way]], owner: IntArray, number: int, options: TreeOptions
) -> TreeStep:
    """Take one step, changing `owner` in place. A unit crosses one edge at most."""
    costs, edges = atoms.costs, atoms.edges
    before = agent_costs(costs, owner)
    wanted = move(give(before, edges))
    moved = np.zeros(len(edges))
    units = np.zeros(len(edges), dtype=np.intp)
    loads = before.copy()
    held = np.where(atoms.fixed, NO_OWNER, owner)
    for giver in np.argsort(-before, kind="stable").tolist():
        out = [way for way in ways[giver] if wanted[way.edge] * way.sign > 0]
        if not out:
            continue
        mine = np.flatnonzero(held == giver)
        for atom, way in _hand_over(costs, giver, mine, out, wanted, loads, options):
            owner[atom] = way.taker
            moved[way.edge] += way.sign * float(costs[giver, atom])
            units[way.edge] += way.sign * int(atoms.sizes[atom])
    after = agent_costs(costs, owner)
    longest, busiest = makespan(after)
    return TreeStep(number, edges, before, wanted, moved, units, after, longest, busiest)


def _hand_over(
    costs: Matrix,
    giver: int,
    mine: IntArray,
    out: list[_Way],
    wanted: FloatArray,
    loads: FloatArray,
    options: TreeOptions,
) -> Iterator[tuple[int, _Way]]:
    """Yield which atom of one giver goes where, and keep `loads` up to date.

    mine: atoms the giver held when the step began, so that nothing is passed on twice in a step.
    What saves most is offered first: the source names no order, and measured over calibrated
    worlds this one beat the dearest first, the nearest first and chance.
    """
    left = np.array([abs(wanted[way.edge]) for way in out])
    takers = np.array([way.taker for way in out], dtype=np.intp)
    offers = costs[takers[:, None], mine]
    own = costs[giver, mine]
    if options.accept == "source":
        possible = np.flatnonzero((own > 0) & (own <= left.max()))
    else:
        # Loads of takers only rise and the giver's only falls, so what cannot help now never will.
        ends = offers + loads[takers][:, None]
        possible = np.flatnonzero(ends.min(axis=0) < loads[giver])
    saving = own[possible] - offers[:, possible].min(axis=0)
    for column in possible[np.argsort(-saving, kind="stable")].tolist():
        open_ways = left > 0
        if not open_ways.any():
            return
        seat = int(np.where(open_ways, offers[:, column], np.inf).argmin())
        cost_here, cost_there = float(own[column]), float(offers[seat, column])
        taker = out[seat].taker
        if options.accept == "source":
            accepted = cost_here <= left[seat] and np.isfinite(cost_there)
        else:
            now = max(loads[giver], loads[taker])
            then = max(loads[giver] - cost_here, loads[taker] + cost_there)
            accepted = bool(then < now - options.min_gain_ms)
        if accepted:
            left[seat] -= cost_here
            loads[giver] -= cost_here
            loads[taker] += cost_there
            yield int(mine[column]), out[seat]
