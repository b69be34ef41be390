"""Each method on the source's world: makespan over the linear program, gain, moves, seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.balance.source import NAMES
from benchmarks.balance.world import World
from manager.balancing.arrays import NO_OWNER
from manager.balancing.balancers import Options, make_plan
from manager.balancing.bound import lower_bound
from manager.balancing.cost import cost_matrix
from manager.balancing.lp import relax
from manager.balancing.plan import Plan
from manager.balancing.problem import Problem, collapse
from manager.balancing.tree_balancing import TreeOptions
from manager.distance.minimum_spanning_tree import network_distance, spanning_tree
from manager.distance.nearest_agents import nearest_pairs

__all__ = ["DEFAULT_ROWS", "Measured", "measure", "problem_of"]

DEFAULT_ROWS = ("default, from the random deal", "default, first placement")


@dataclass(frozen=True)
class Measured:
    """One plan. over_lp: makespan over that of the relaxation. gain: over the random deal."""

    label: str
    plan: Plan
    over_lp: float
    gain: float
    seconds: float

    @property
    def rounds(self) -> int:
        """Return the steps of equalisation, 0 for the other methods."""
        return len(self.plan.steps)


def problem_of(world: World) -> Problem:
    """Return the problem of a first round after everybody probed everything."""
    between = network_distance(world.distance)
    return Problem(
        names=NAMES,
        costs=cost_matrix(world.volume_kb, world.distance).costs,
        before=np.full(len(world.volume_kb), NO_OWNER, dtype=np.intp),
        edges=spanning_tree(between).edges,
        near=nearest_pairs(between),
    )


def measure(world: World, seed: int) -> Iterator[Measured]:
    """Yield every method; those that start from something start from the random deal."""
    first = problem_of(world)
    atoms = collapse(first)
    least_ms = relax(atoms, lower_bound(atoms.costs)).makespan_ms
    dealt, seconds = timed("random", first, Options(seed=seed))
    random_ms = dealt.makespan_after_ms
    given = replace(first, before=dealt.after)

    def row(label: str, plan: Plan, took: float) -> Measured:
        reached = plan.makespan_after_ms
        return Measured(label, plan, reached / least_ms, random_ms / reached, took)

    yield row("random", dealt, seconds)
    for label, method, problem, options in (
        ("tree, as the source", "tree", given, Options(tree=TreeOptions(accept="source"))),
        ("tree", "tree", given, Options()),
        ("exchange", "exchange", given, Options()),
        ("prices", "prices", given, Options()),
        ("lp", "lp", given, Options()),
        ("keep: placed one by one", "keep", first, Options()),
        (DEFAULT_ROWS[0], "default", given, Options()),
        (DEFAULT_ROWS[1], "default", first, Options()),
    ):
        yield row(label, *timed(method, problem, options))


def timed(method: str, problem: Problem, options: Options) -> tuple[Plan, float]:
    """Return a plan and the seconds that it took, the bound's included."""
    began = time.perf_counter()
    plan = make_plan(method, problem, options)
    return plan, time.perf_counter() - began
