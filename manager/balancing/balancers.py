"""The methods under one interface, and the ways in: make a plan, compare plans, show prospects.

A balancer gets atoms, so that it cannot break what must hold (see `problem`), and the bound with
its prices, which every plan shows anyway. To add a method, write one function and name it here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, Literal, Protocol

import numpy as np

from manager.balancing.arrays import NO_OWNER, IntArray
from manager.balancing.bound import Bound, lower_bound
from manager.balancing.clock import Clock, clock_of, end_and_network
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.earliest_end import MoveRules, end_soonest
from manager.balancing.errors import BalancingError
from manager.balancing.exchange import exchange
from manager.balancing.low_churn import Churn, pairs_of, settle
from manager.balancing.lp import assign_by_lp
from manager.balancing.placement import place
from manager.balancing.plan import Plan, draw_up
from manager.balancing.prices import assign_by_prices
from manager.balancing.problem import Atoms, Problem, collapse
from manager.balancing.random_assignment import deal_at_random
from manager.balancing.tree_balancing import TreeOptions, TreeStep, equalise
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "BALANCERS",
    "Balancer",
    "Compared",
    "Objective",
    "Options",
    "Outcome",
    "compare",
    "make_plan",
    "prospects",
]


Objective = Literal["end", "transfer"]
"""What `default` makes small: the end of the crawl, or the source's greatest cost."""


@dataclass(frozen=True)
class Options:
    """Options of a person; each method reads those that concern it.

    seed: for `random`; equal seeds give equal deals. tree: steps and rule of acceptance.
    churn: what moves may cost, for `default`. objective: of `default`, the end of the crawl where
    the problem has what it depends on, or the greatest cost of transfer.
    """

    seed: int = 0
    tree: TreeOptions = field(default_factory=TreeOptions)
    churn: Churn = field(default_factory=Churn)
    objective: Objective = "end"


@dataclass(frozen=True)
class Outcome:
    """Answer of a balancer. owner: (atoms,), complete. said: how it came about, for the plan."""

    owner: IntArray
    said: tuple[Message, ...] = ()
    steps: tuple[TreeStep, ...] = ()


class Balancer(Protocol):
    """Choose an owner for every atom: pure, deterministic, only owners with a finite cost.

    clock: None where only the transfer is known.
    """

    def __call__(
        self, atoms: Atoms, bound: Bound, options: Options, clock: Clock | None
    ) -> Outcome:
        """Return the owners and how they came about."""
        ...


def make_plan(method: str, problem: Problem, options: Options | None = None) -> Plan:
    """Return the plan of one method; raises BalancingError for a name that is not in BALANCERS."""
    return compare([method], problem, options)[method]


def compare(
    methods: Iterable[str], problem: Problem, options: Options | None = None
) -> dict[str, Plan]:
    """Return the plans of several methods for one problem, measured against one bound."""
    names = _known(methods)
    atoms = collapse(problem)
    bound, clock = lower_bound(atoms.costs), clock_of(problem, atoms)
    end_bound_ms = clock.bound_ms if clock is not None else 0.0
    plans: dict[str, Plan] = {}
    for name in names:
        outcome = BALANCERS[name](atoms, bound, options or Options(), clock)
        plans[name] = draw_up(
            name,
            problem,
            atoms,
            outcome.owner,
            bound.makespan_ms,
            outcome.said,
            outcome.steps,
            end_bound_ms,
        )
    return plans


@message_fields
@frozen
class Compared:
    """Result of another method. above_bound: 1.03 is 3% above the best possible.

    end_ms: predicted end of the crawl by the clock, None: never, or not known. network_ms: bytes
    times distance. why: why there are no numbers, or None.
    """

    method: str
    makespan_ms: float | None
    moves: int | None
    above_bound: float | None
    why: Message | None
    end_ms: float | None = None
    network_ms: float | None = None


def prospects(
    methods: Iterable[str], problem: Problem, options: Options | None = None
) -> Iterator[Compared]:
    """Yield the result of each method when it is ready, measured against one bound.

    A method that refuses, or is unknown, yields the reason; the others are not delayed.
    """
    atoms = collapse(problem)
    bound, clock = lower_bound(atoms.costs), clock_of(problem, atoms)
    for name in methods:
        try:
            _known([name])
            owner = BALANCERS[name](atoms, bound, options or Options(), clock).owner
        except BalancingError as error:
            yield Compared(name, None, None, None, error.message)
            continue
        longest, _ = makespan(agent_costs(atoms.costs, owner))
        moves = int(np.count_nonzero(atoms.expand(owner) != problem.before))
        above_bound = longest / bound.makespan_ms if bound.makespan_ms > 0 else 1.0
        yield Compared(
            name, longest, moves, above_bound, None, *end_and_network(problem, atoms, owner)
        )


def _known(methods: Iterable[str]) -> list[str]:
    names = list(methods)
    for name in names:
        if name not in BALANCERS:
            near = get_close_matches(name, BALANCERS, n=1)
            remedy = (
                Message("general.did_you_mean", name=near[0])
                if near
                else Message("general.known", known=tuple(BALANCERS))
            )
            raise BalancingError("balancing.unknown_method", name=name[:40], remedy=remedy)
    return names


def _random(atoms: Atoms, bound: Bound, options: Options, clock: Clock | None) -> Outcome:
    """Deal all atoms again at random, as for the first round."""
    owner = deal_at_random(atoms, np.random.default_rng(options.seed))
    return Outcome(owner, (Message("balancing.dealt", seed=options.seed),))


def _keep(atoms: Atoms, bound: Bound, options: Options, clock: Clock | None) -> Outcome:
    """Keep each atom that can stay; place those without an owner."""
    return Outcome(place(atoms), _placed(atoms))


def _tree(atoms: Atoms, bound: Bound, options: Options, clock: Clock | None) -> Outcome:
    """Equalise along the spanning tree, from the present owners."""
    result = equalise(atoms, place(atoms), options.tree)
    said = [*_placed(atoms)]
    if not len(atoms.edges) and atoms.agents > 1:
        said.append(_NO_NEIGHBOURS)
    said += [_step_message(atoms.names, step) for step in result.steps[: result.best_step]]
    tried = len(result.steps) - result.best_step
    if tried:
        said.append(Message("balancing.not_better", tried=tried, step=result.best_step))
    return Outcome(result.owner, tuple(said), result.steps)


def _exchange(atoms: Atoms, bound: Bound, options: Options, clock: Clock | None) -> Outcome:
    """Cut between two agents at a time, from the present owners."""
    pairs = pairs_of(atoms)
    done = exchange(atoms, place(atoms), pairs)
    said = [*_placed(atoms)]
    if not len(pairs) and atoms.agents > 1:
        said.append(_NO_NEIGHBOURS)
    said.append(
        Message(
            "balancing.exchanged",
            pairs=len(pairs),
            exchanges=int(done.exchanges),
            sweeps=int(done.sweeps),
        )
    )
    return Outcome(done.owner, tuple(said))


def _prices(atoms: Atoms, bound: Bound, options: Options, clock: Clock | None) -> Outcome:
    """Place all atoms again near the optimum."""
    filled = assign_by_prices(atoms, bound)
    prices = tuple(
        Message("balancing.price", agent=name, price=float(price))
        for name, price in zip(atoms.names, bound.prices, strict=True)
    )
    return Outcome(
        filled.owner,
        (
            Message("balancing.prices", iterations=bound.iterations, prices=prices),
            Message("balancing.filled", above_share=filled.target - 1),
        ),
    )


def _lp(atoms: Atoms, bound: Bound, options: Options, clock: Clock | None) -> Outcome:
    """Round the relaxation, with the present owners of no account."""
    rounded = assign_by_lp(atoms, bound)
    relaxed = rounded.relaxed
    said = Message(
        "balancing.relaxed", makespan_ms=float(relaxed.makespan_ms), hosts=int(relaxed.divided)
    )
    return Outcome(rounded.owner, (said,))


def _default(atoms: Atoms, bound: Bound, options: Options, clock: Clock | None) -> Outcome:
    """Place what is new, and even the rest with few moves: by the clock, or by transfer."""
    if clock is not None and options.objective == "end":
        return _soonest(atoms, options, clock)
    settled = settle(atoms, bound, options.churn)
    churn = options.churn
    said = [*_placed(atoms), Message("balancing.way", way=settled.way)]
    if settled.great:
        said.append(
            Message(
                "balancing.few_moves",
                above_share=churn.great_change - 1,
                most_share=churn.most_moves,
            )
        )
    return Outcome(settled.owner, tuple(said))


def _soonest(atoms: Atoms, options: Options, clock: Clock) -> Outcome:
    """End soonest, then cost the network least, then move least."""
    churn = options.churn
    rules = MoveRules(churn.most_moves, churn.error, churn.great_change)
    ended = end_soonest(atoms, clock.times, clock.bound_ms, clock.predict, rules)
    said = [*_placed(atoms), Message("balancing.soonest", error_share=rules.error)]
    if ended.great:
        said.append(
            Message(
                "balancing.few_moves_end",
                above_share=rules.great - 1,
                most_share=rules.most,
            )
        )
    return Outcome(ended.owner, tuple(said))


def _placed(atoms: Atoms) -> tuple[Message, ...]:
    waiting = int(atoms.sizes[atoms.start == NO_OWNER].sum())
    return (Message("balancing.placed", units=waiting),) if waiting else ()


def _step_message(names: tuple[str, ...], step: TreeStep) -> Message:
    """Return who gave whom how much, and where that leaves the makespan."""
    gifts = []
    for (first, second), moved, units in zip(step.edges, step.moved, step.units, strict=True):
        if units:
            giver, taker = (first, second) if units > 0 else (second, first)
            gifts.append(
                Message(
                    "balancing.gift",
                    giver=names[giver],
                    taker=names[taker],
                    units=int(abs(units)),
                    cost_ms=float(abs(moved)),
                )
            )
    return Message(
        "balancing.step",
        step=step.number,
        gifts=tuple(gifts),
        makespan_ms=float(step.makespan_ms),
        agent=names[step.busiest],
    )


_NO_NEIGHBOURS: Final = Message("balancing.no_tree")

BALANCERS: Mapping[str, Balancer] = MappingProxyType(
    {
        "default": _default,
        "random": _random,
        "keep": _keep,
        "tree": _tree,
        "exchange": _exchange,
        "prices": _prices,
        "lp": _lp,
    }
)
"""Every method by the name that settings, console and commands use."""
