"""Probes that could change a plan: the pairs of unit and agent whose distance is only predicted.

The work of a unit at an agent counts at the price of the agent's time (`balancing.earliest_end`):
where the hours of all suffice it costs the network alone. The model says how far a prediction may
be off.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from manager.assignment.probe_value import ValueRules, choose_probes, expected_savings
from manager.balancing.arrays import NO_OWNER, BoolArray, IntArray
from manager.balancing.earliest_end import work_prices
from manager.balancing.problem import Problem, collapse
from manager.distance.prediction import Probes
from manager.operations.measurement.distance_model import LoadedModel
from manager.operations.planning.balancing_problem import Loaded

__all__ = ["valuable_pairs"]

COLUMNS_AT_ONCE: Final = 16_384
UNKNOWN_ERROR: Final = 1.0
"""Least error of a natural logarithm where the model has seen no probe of the agent."""
TRIED_BY: Final = 5
"""Agents that may find a unit unreachable before no other agent is asked."""


def valuable_pairs(
    loaded: Loaded, learned: LoadedModel, rules: ValueRules, pages: int, asked: BoolArray
) -> list[tuple[int, int]]:
    """Return (unit, agent) whose probe is worth its pages, the one that saves most for them first.

    loaded: on predictions. pages: of one probe at most. asked: (agents,) that may be asked.
    """
    work, predicted = loaded.work, loaded.predicted
    allowed = predicted & asked[:, None]
    if loaded.problem.forbidden is not None:
        allowed &= ~loaded.problem.forbidden
    allowed[:, _takers(loaded.problem) < 2] = False
    if not allowed.any():
        return []
    known = _reached(loaded)
    scale = work.relative * _prices(loaded, known)
    costs = loaded.problem.costs
    best = np.where(known, costs * scale[:, None], np.inf).min(axis=0)
    found = np.isfinite(best)
    page_ms = float(best[found].sum() / work.requests[found].sum()) if found.any() else 0.0
    given_up = ~found & ((~predicted).sum(axis=0) >= TRIED_BY)
    allowed[:, given_up] = False
    pages_ms = page_ms * np.minimum(work.requests, pages)
    whole = work.requests <= pages  # with a robots.txt: so it has fewer pages than a probe
    chosen: list[tuple[float, int, int]] = []
    for start in range(0, costs.shape[1], COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        if not allowed[:, part].any():
            continue
        savings = expected_savings(
            costs[:, part] * scale[:, None], _errors(loaded, learned, known, part), best[part]
        )
        agent, unit = choose_probes(savings, allowed[:, part], pages_ms[part], whole[part], rules)
        worth = savings[agent, unit] / np.maximum(pages_ms[part][unit], 1e-300)
        chosen += zip(worth.tolist(), (unit + start).tolist(), agent.tolist(), strict=True)
    chosen.sort(key=lambda one: -one[0])
    return [(int(loaded.unit_ids[unit]), loaded.agent_ids[agent]) for _, unit, agent in chosen]


def _takers(problem: Problem) -> IntArray:
    """Return (units,) how many agents may have each unit: one, where a unit beside it is pinned."""
    takers = np.full(problem.costs.shape[1], len(problem.costs), dtype=np.intp)
    if problem.forbidden is not None:
        takers -= problem.forbidden.sum(axis=0)
    if problem.pins is not None:
        pinned = problem.pins != NO_OWNER
        if problem.group is not None:
            pinned = np.isin(problem.group, problem.group[pinned])
        takers[pinned] = 1
    return takers


def _reached(loaded: Loaded) -> BoolArray:
    """Return (agents, units) the pairs that were measured, and reached."""
    known: BoolArray = ~loaded.predicted & np.isfinite(loaded.problem.costs)
    for never in (loaded.problem.unreachable, loaded.problem.forbidden):
        if never is not None:
            known &= ~never
    return known


def _prices(loaded: Loaded, known: BoolArray) -> npt.NDArray[np.float64]:
    """Return (agents,) the price of each agent's time where only measured agents have units."""
    some = known.any(axis=0)
    problem = replace(loaded.problem, unreachable=np.where(some, ~known, False))
    atoms = collapse(problem)
    times = loaded.work.time_costs(problem.costs, problem.before, atoms.of_unit, atoms.costs)
    return work_prices(times)


def _errors(
    loaded: Loaded, learned: LoadedModel, known: BoolArray, part: slice
) -> npt.NDArray[np.floating[Any]]:
    """Return (agents, units) the error of the logarithm of each prediction."""
    agent, unit = np.nonzero(known[:, part])
    kb = np.maximum(loaded.work.volume_kb[part], 1e-9)
    distance = loaded.problem.costs[:, part][agent, unit] * loaded.work.relative[agent] / kb[unit]
    places = learned.model.places(Probes(agent, unit, distance), len(kb))
    error = np.log(learned.model.off_by(places))
    return np.where(learned.known[:, None], error, np.maximum(error, UNKNOWN_ERROR))
