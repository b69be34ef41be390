"""Planners: in this process or in a child, and the results of other methods.

Invariant: a comparison ends within its time. A method that was not reached in it says so; only four
numbers are kept of each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from manager.balancing.balancers import Compared, Options, make_plan, prospects
from manager.balancing.plan import Plan
from manager.balancing.problem import Problem
from shared.messages import Message

__all__ = ["InProcessPlanner", "Planner", "Solver", "too_late"]

Solver = Callable[[str, Problem, Options], Plan]
"""`manager.balancing.balancers.make_plan`, or the same in a child process."""


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
        turns = prospects(methods, problem, options)
        for method in methods:
            late = time.monotonic() >= until_s
            found.append(too_late(method, within_s) if late else next(turns))
        return found


def too_late(method: str, within_s: float) -> Compared:
    """Return the result of a method that was not ready in time."""
    return Compared(method, None, None, None, Message("planning.not_ready", limit_s=within_s))
