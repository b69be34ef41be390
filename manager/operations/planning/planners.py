"""Planners: in this process or in a child, and the results of other methods.

Invariant: a comparison ends within its time. A method that was not reached in it says so; only four
numbers are kept of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from manager.balancing.balancers import Options, make_plan, prospects
from manager.balancing.plan import Plan
from manager.balancing.problem import Problem
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["Compared", "InProcessPlanner", "Planner", "Solver", "compare_in_turn", "too_late"]

Solver = Callable[[str, Problem, Options], Plan]
"""`manager.balancing.balancers.make_plan`, or the same in a child process."""


@message_fields
@frozen
class Compared:
    """Result of another method. above_bound: 1.03 is 3% above the best possible.

    why: why there are no numbers, or None.
    """

    method: str
    makespan_ms: float | None
    moves: int | None
    above_bound: float | None
    why: Message | None


class Planner(Protocol):
    """Makes a plan by one method, and compares it with others."""

    def __call__(self, method: str, problem: Problem, options: Options) -> Plan:
        """Return a plan."""
        ...

    def compare(
        self, methods: Sequence[str], problem: Problem, options: Options, within_s: float
    ) -> list[Compared]:
        """Return what each of some methods would give, in at most about that time."""
        ...


class InProcessPlanner:
    """A planner in this process, for small problems: a method that has begun is not stopped."""

    def __call__(self, method: str, problem: Problem, options: Options) -> Plan:
        """Return a plan."""
        return make_plan(method, problem, options)

    def compare(
        self, methods: Sequence[str], problem: Problem, options: Options, within_s: float
    ) -> list[Compared]:
        """Return what each of some methods would give; those not begun in time say so."""
        until_s = time.monotonic() + within_s
        found = []
        turns = compare_in_turn(methods, problem, options)
        for method in methods:
            late = time.monotonic() >= until_s
            found.append(too_late(method, within_s) if late else next(turns))
        return found


def compare_in_turn(
    methods: Sequence[str], problem: Problem, options: Options
) -> Iterator[Compared]:
    """Yield the result of each method as soon as it arrives."""
    for one in prospects(methods, problem, options):
        if one.refused is not None:
            yield Compared(one.method, None, None, None, one.refused)
        else:
            yield Compared(
                method=one.method,
                makespan_ms=one.makespan_ms,
                moves=one.moves,
                above_bound=one.above_bound,
                why=None,
            )


def too_late(method: str, within_s: float) -> Compared:
    """Return the result of a method that was not ready in time."""
    return Compared(method, None, None, None, Message("planning.not_ready", limit_s=within_s))
