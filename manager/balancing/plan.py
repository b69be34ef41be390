"""A plan: who owns what before and after, what that costs, and why; for preview before use.

Invariant: a plan is complete. Every unit has exactly one owner after it, and `moves` is exactly
the difference between before and after. Applying it is left to an operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from manager.balancing.arrays import NO_OWNER, FloatArray, IntArray
from manager.balancing.cost import agent_costs, makespan
from manager.balancing.problem import Atoms, Problem
from manager.balancing.tree_balancing import TreeStep
from shared.messages import Message
from shared.ratios import PERCENTS_END, times_message

__all__ = ["Move", "Moves", "Plan", "PlanTime", "draw_up"]


@dataclass(frozen=True)
class PlanTime:
    """Predicted ends of a plan, and its network cost (bytes times distance).

    ends_before_ms, ends_after_ms: (agents,) by the clock from the start, inf: never. bound_ms: no
    plan ends earlier. network_before_ms: of the units that had an owner.
    """

    ends_before_ms: FloatArray
    ends_after_ms: FloatArray
    bound_ms: float
    network_before_ms: float
    network_after_ms: float

    @property
    def end_before_ms(self) -> float:
        """Return the end of the crawl before."""
        return float(self.ends_before_ms.max())

    @property
    def end_after_ms(self) -> float:
        """Return the end of the crawl after."""
        return float(self.ends_after_ms.max())

    @property
    def above_bound(self) -> float:
        """Return the end after over the bound; 1.02 means at most 2% later than possible."""
        return self.end_after_ms / self.bound_ms if self.bound_ms > 0 else 1.0


@dataclass(frozen=True)
class Move:
    """One unit that changes its owner. giver: NO_OWNER if it had no owner, and then gain_ms is 0.

    gain_ms: the cost that the giver no longer has. cost_ms: the cost that the taker gets.
    """

    unit: int
    giver: int
    taker: int
    gain_ms: float
    cost_ms: float


@dataclass(frozen=True)
class Moves:
    """All moves of a plan as columns, each (moves,); those that save most come first.

    Columns, because a first placement of half a million units is half a million moves.
    """

    unit: IntArray
    giver: IntArray
    taker: IntArray
    gain_ms: FloatArray
    cost_ms: FloatArray

    def __len__(self) -> int:
        return len(self.unit)

    def __getitem__(self, index: int) -> Move:
        return Move(
            int(self.unit[index]),
            int(self.giver[index]),
            int(self.taker[index]),
            float(self.gain_ms[index]),
            float(self.cost_ms[index]),
        )

    def __iter__(self) -> Iterator[Move]:
        return (self[index] for index in range(len(self)))


@dataclass(frozen=True)
class Plan:
    """Proposal of one method for one problem.

    before, after: (units,) agent index; NO_OWNER only in before. costs_*_ms, units_*: (agents,).
    bound_ms: no assignment that keeps groups, pins and forbidden pairs has a smaller makespan.
    steps: the rounds of equalisation, for `tree`; else empty. explanation: of the method's work.
    time: where the problem has what it depends on.
    """

    method: str
    names: tuple[str, ...]
    before: IntArray
    after: IntArray
    moves: Moves
    costs_before_ms: FloatArray
    costs_after_ms: FloatArray
    bound_ms: float
    explanation: tuple[Message, ...]
    steps: tuple[TreeStep, ...] = ()
    time: PlanTime | None = None

    @property
    def makespan_before_ms(self) -> float:
        """Return the greatest agent cost before; units without an owner are in no agent's cost."""
        return makespan(self.costs_before_ms)[0]

    @property
    def makespan_after_ms(self) -> float:
        """Return the greatest agent cost after."""
        return makespan(self.costs_after_ms)[0]

    @property
    def above_bound(self) -> float:
        """Return makespan after over the bound; 1.03 means at most 3% above the best possible."""
        return self.makespan_after_ms / self.bound_ms if self.bound_ms > 0 else 1.0

    @property
    def units_after(self) -> IntArray:
        """Return (agents,) how many units each agent owns after."""
        return np.bincount(self.after, minlength=len(self.names)).astype(np.intp)


def draw_up(
    method: str,
    problem: Problem,
    atoms: Atoms,
    owner: IntArray,
    bound_ms: float,
    said: tuple[Message, ...] = (),
    steps: tuple[TreeStep, ...] = (),
    end_bound_ms: float = 0.0,
) -> Plan:
    """Return the plan that takes `problem` to `owner`, (atoms,), with its moves."""
    after = atoms.expand(owner)
    costs_before = agent_costs(problem.costs, problem.before)
    costs_after = agent_costs(problem.costs, after)
    moves = _moves(problem, after)
    least, who = makespan(costs_after)
    summary = [
        Message(
            "balancing.reached",
            method=method,
            makespan_ms=least,
            agent=problem.names[who],
            above=_above(least, bound_ms),
        ),
        Message("balancing.moves", moves=len(moves), units=len(after)),
    ]
    if np.any(problem.before != NO_OWNER):
        longest, whose = makespan(costs_before)
        summary.append(Message("balancing.before", makespan_ms=longest, agent=problem.names[whose]))
    time = _time(problem, after, end_bound_ms)
    if time is not None:
        summary.insert(1, _end_message(problem.names, time))
    if atoms.unreached:
        summary.append(Message("balancing.unreached", addresses=atoms.unreached))
    return Plan(
        method=method,
        names=problem.names,
        before=problem.before,
        after=after,
        moves=moves,
        costs_before_ms=costs_before,
        costs_after_ms=costs_after,
        bound_ms=bound_ms,
        explanation=(*summary, *said),
        steps=steps,
        time=time,
    )


def _time(problem: Problem, after: IntArray, bound_ms: float) -> PlanTime | None:
    work = problem.work
    if work is None:
        return None
    return PlanTime(
        ends_before_ms=work.ends_ms(problem.costs, problem.before),
        ends_after_ms=work.ends_ms(problem.costs, after),
        bound_ms=bound_ms,
        network_before_ms=work.network_ms(problem.costs, problem.before),
        network_after_ms=work.network_ms(problem.costs, after),
    )


def _end_message(names: tuple[str, ...], time: PlanTime) -> Message:
    """Return when the crawl ends, and where it ends last."""
    last = names[int(np.argmax(time.ends_after_ms))]
    if not np.isfinite(time.end_after_ms):
        return Message("balancing.ends_never", agent=last)
    return Message(
        "balancing.ends",
        end_ms=time.end_after_ms,
        agent=last,
        above=_above(time.end_after_ms, time.bound_ms),
        network_ms=time.network_after_ms,
    )


def _moves(problem: Problem, after: IntArray) -> Moves:
    """Return what differs between before and after, the greatest saving first."""
    unit = np.flatnonzero(problem.before != after)
    giver, taker = problem.before[unit], after[unit]
    had = giver != NO_OWNER
    gain = np.zeros(len(unit))
    gain[had] = problem.costs[giver[had], unit[had]]
    cost = problem.costs[taker, unit].astype(np.float64)
    order = np.lexsort((unit, cost - gain))
    return Moves(unit[order], giver[order], taker[order], gain[order], cost[order])


def _above(makespan_ms: float, bound_ms: float) -> Message:
    if bound_ms <= 0:
        return Message("balancing.best_possible")
    ratio = makespan_ms / bound_ms
    if ratio < PERCENTS_END:
        return Message("balancing.above_share", share=round(ratio - 1, 6))
    return Message("balancing.above_times", times=times_message(ratio))
