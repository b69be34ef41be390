"""Make large plans in a child process: a plan of seconds must not hold up every request.

Invariant: the child has no database handle. Small problems are solved here; a child costs a second
to start, more than their solution.
"""

from __future__ import annotations

from typing import Final

from manager.balancing import Options, Plan, Problem, make_plan
from manager.intake import Workers

__all__ = ["ChildPlanner"]

SMALL_CELLS: Final = 200_000
"""Agents times units that are solved in tens of milliseconds."""

_Job = tuple[str, Problem, Options]


class ChildPlanner:
    """A planner for `make_plan` and `tick`; any thread may call it."""

    def __init__(self) -> None:
        self._workers = Workers(1)

    def __call__(self, method: str, problem: Problem, options: Options) -> Plan:
        """Return a plan."""
        if problem.costs.size <= SMALL_CELLS:
            return make_plan(method, problem, options)
        return self._workers.run_here(_make_plan, (method, problem, options))

    def close(self) -> None:
        """End the child."""
        self._workers.close()


def _make_plan(job: _Job) -> Plan:
    return make_plan(*job)
