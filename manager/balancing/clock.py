"""The clock of a problem: times of its atoms, the earliest end, and the prediction for owners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manager.balancing.arrays import IntArray
from manager.balancing.earliest_end import Predict, end_bound
from manager.balancing.forecast.crawl_work import TimeCosts
from manager.balancing.problem import Atoms, Problem

__all__ = ["Clock", "clock_of", "end_and_network"]


@dataclass(frozen=True)
class Clock:
    """Times of a problem for the methods. bound_ms: no plan ends earlier."""

    times: TimeCosts
    bound_ms: float
    predict: Predict


def clock_of(problem: Problem, atoms: Atoms) -> Clock | None:
    """Return the clock; None where only the transfer is known."""
    work = problem.work
    if work is None:
        return None
    times = work.time_costs(problem.costs, problem.before, atoms.of_unit, atoms.costs)

    def predict(owner: IntArray) -> float:
        return float(work.ends_ms(problem.costs, atoms.expand(owner)).max())

    return Clock(times, end_bound(times), predict)


def end_and_network(
    problem: Problem, atoms: Atoms, owner: IntArray
) -> tuple[float | None, float | None]:
    """Return the end of the crawl, None: never, and the network cost where atoms have owners."""
    if problem.work is None:
        return None, None
    units = atoms.expand(owner)
    end = float(problem.work.ends_ms(problem.costs, units).max())
    return (
        end if np.isfinite(end) else None,
        problem.work.network_ms(problem.costs, units),
    )
