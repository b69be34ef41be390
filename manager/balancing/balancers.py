"""The methods under one interface, and the two ways in: make a plan, compare methods.

A balancer gets atoms, so that it cannot break what must hold (see `problem`), and the bound with
its prices, which every plan shows anyway. To add a method, write one function and name it here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Protocol

import numpy as np

from manager.balancing.arrays import NOBODY, IntArray
from manager.balancing.bound import Bound, lower_bound
from manager.balancing.errors import BalancingError
from manager.balancing.placing import place
from manager.balancing.plan import Plan, draw_up, spoken
from manager.balancing.prices import assign_by_prices
from manager.balancing.problem import Atoms, Problem, collapse
from manager.balancing.random_assignment import deal_at_random
from manager.balancing.tree import TreeOptions, TreeStep, equalise

__all__ = ["BALANCERS", "Balancer", "Options", "Outcome", "compare", "make_plan"]


@dataclass(frozen=True)
class Options:
    """What a person may choose; each method reads what concerns it.

    seed: for `random`; equal seeds give equal deals. tree: steps and rule of acceptance.
    """

    seed: int = 0
    tree: TreeOptions = field(default_factory=TreeOptions)


@dataclass(frozen=True)
class Outcome:
    """What a balancer answers. owner: (atoms,), complete. said: sentences for the plan."""

    owner: IntArray
    said: tuple[str, ...] = ()
    steps: tuple[TreeStep, ...] = ()


class Balancer(Protocol):
    """Choose an owner for every atom: pure, deterministic, only owners with a finite cost."""

    def __call__(self, atoms: Atoms, bound: Bound, options: Options) -> Outcome:
        """Return the owners and how they came about."""
        ...


def make_plan(method: str, problem: Problem, options: Options | None = None) -> Plan:
    """Return the plan of one method; raises BalancingError for a name that is not in BALANCERS."""
    return compare([method], problem, options)[method]


def compare(
    methods: Iterable[str], problem: Problem, options: Options | None = None
) -> dict[str, Plan]:
    """Return the plans of several methods for one problem, measured against one bound."""
    names = list(methods)
    for name in names:
        if name not in BALANCERS:
            near = get_close_matches(name, BALANCERS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(BALANCERS)}"
            raise BalancingError(f"balancer {name!r} is unknown: {hint}")
    atoms = collapse(problem)
    bound = lower_bound(atoms.costs)
    plans: dict[str, Plan] = {}
    for name in names:
        outcome = BALANCERS[name](atoms, bound, options or Options())
        plans[name] = draw_up(
            name, problem, atoms, outcome.owner, bound.makespan_ms, outcome.said, outcome.steps
        )
    return plans


def _random(atoms: Atoms, bound: Bound, options: Options) -> Outcome:
    """Deal everything anew, as for the first round."""
    owner = deal_at_random(atoms, np.random.default_rng(options.seed))
    return Outcome(owner, (f"Dealt at random with seed {options.seed}, in even counts.",))


def _keep(atoms: Atoms, bound: Bound, options: Options) -> Outcome:
    """Move nothing that can stay; place what has no owner."""
    return Outcome(place(atoms), _placed(atoms))


def _tree(atoms: Atoms, bound: Bound, options: Options) -> Outcome:
    """Equalise along the spanning tree, from the present owners."""
    result = equalise(atoms, place(atoms), options.tree)
    said = [*_placed(atoms)]
    if not len(atoms.edges) and atoms.agents > 1:
        said.append("There is no tree: neighbours are known once agents have probed common hosts.")
    said += [_step_in_words(atoms.names, step) for step in result.steps[: result.best_step]]
    tried = len(result.steps) - result.best_step
    if tried:
        said.append(
            f"{tried} further steps brought nothing better; step {result.best_step} counts."
        )
    return Outcome(result.owner, tuple(said), result.steps)


def _prices(atoms: Atoms, bound: Bound, options: Options) -> Outcome:
    """Place everything anew near the optimum."""
    filled = assign_by_prices(atoms, bound)
    prices = ", ".join(
        f"{name} {price:.2f}" for name, price in zip(atoms.names, bound.prices, strict=True)
    )
    return Outcome(
        filled.owner,
        (
            f"Prices after {bound.iterations} iterations: {prices}.",
            f"Filled up to {100 * (filled.target - 1):g}% above the bound.",
        ),
    )


def _placed(atoms: Atoms) -> tuple[str, ...]:
    waiting = int(atoms.sizes[atoms.start == NOBODY].sum())
    return (
        (f"{waiting} units had no owner that may have them, and were placed.",) if waiting else ()
    )


def _step_in_words(names: tuple[str, ...], step: TreeStep) -> str:
    """Return one sentence: who gave whom how much, and where that leaves the makespan."""
    gifts = []
    for (first, second), moved, units in zip(step.edges, step.moved, step.units, strict=True):
        if units:
            giver, taker = (first, second) if units > 0 else (second, first)
            gifts.append(
                f"{names[giver]} gives {names[taker]} {abs(units)} units ({spoken(abs(moved))})"
            )
    return (
        f"Step {step.number}: {', '.join(gifts)}."
        f" Makespan {spoken(step.makespan_ms)} ({names[step.busiest]})."
    )


BALANCERS: Mapping[str, Balancer] = MappingProxyType(
    {"random": _random, "keep": _keep, "tree": _tree, "prices": _prices}
)
"""Every method by the name that settings, console and commands use."""
