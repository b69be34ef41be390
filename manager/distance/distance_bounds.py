"""Bounds on claimed distances: within a factor of what other agents measure.

An agent could claim no time at all and be given everything, or a thousand times too much and be
given nothing. A claim counts as at least a quarter-best distance of the others to the unit, divided
by the factor, and at most a quarter-worst one, times it. An agent that claims to be nearer on the
whole, by more than the root of the factor, is not believed to be nearer than the quarter-best of
the others at all: one host may be on the same campus, all hosts are not (docs/adr/0083). So up to a
quarter of the agents may lie together.
Invariant: with fewer than two others nothing is changed: of only two, either may be the liar.
"""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from manager.distance.errors import DistanceError
from manager.distance.prediction import Model
from manager.distance.spread import LEAST_MS_PER_KB

__all__ = ["bounded_distances", "excess_nearness", "overall_factor"]

Matrix: TypeAlias = npt.NDArray[np.floating[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

COLUMNS_AT_ONCE: Final = 16_384
OTHERS_LEAST: Final = 2


def excess_nearness(model: Model, known: BoolArray, factor: float) -> npt.NDArray[np.float64]:
    """Return (agents,) how many times nearer an agent claims to be than the quarter-best of the
    others, all in all; 0 where that is within the factor.

    known: (agents,) the model knows the agent by the agent's own probes.
    """
    _check(factor)
    found = np.zeros(len(known))
    rows = np.flatnonzero(known)
    if len(rows) <= OTHERS_LEAST:
        return found
    low, _ = _of_others(model.levels[rows][:, None])
    times = np.exp(low[:, 0] - model.levels[rows])
    found[rows] = np.where(times > factor, times, 0)
    return found


def overall_factor(factor: float) -> float:
    """Return within which factor an agent is believed of all hosts together, by that of one."""
    _check(factor)
    return math.sqrt(factor)


def bounded_distances(claimed: Matrix, factor: float, distrusted: BoolArray) -> Matrix:
    """Return (agents, units) the bounded claims of the agents.

    claimed: (agents, units) ms per KByte, inf where unreachable, nan where nothing is known; one
    without a nan is changed in place. distrusted: (agents,) its claims are too near on the whole.
    """
    _check(factor)
    agents, units = claimed.shape
    if agents <= OTHERS_LEAST:
        return np.maximum(claimed, LEAST_MS_PER_KB)
    counts = np.empty_like(claimed)
    least = np.where(distrusted, 1.0, 1 / factor)[:, None]
    for start in range(0, units, COLUMNS_AT_ONCE):
        part = claimed[:, start : start + COLUMNS_AT_ONCE]
        low, high = _of_others(np.where(np.isnan(part), np.inf, part))
        # Where fewer than a quarter of the others know a unit there is nothing to go by.
        floor = np.where(np.isfinite(low), low * least, 0)
        within = np.clip(part, np.maximum(floor, LEAST_MS_PER_KB), high * factor)
        counts[:, start : start + COLUMNS_AT_ONCE] = np.where(np.isfinite(part), within, part)
    return counts


def _of_others(values: Matrix) -> tuple[Matrix, Matrix]:
    """Return for each cell the quarter-best and the quarter-worst of its column's other cells.

    values: (agents, columns), at least three agents, no nan.
    """
    agents = len(values)
    low = (agents - 2) // 4
    high = agents - 2 - low
    ordered = np.partition(values, sorted({low, low + 1, high, high + 1}), axis=0)
    # Without a cell that is among the first, those after it move up by one.
    return (
        np.where(values > ordered[low], ordered[low], ordered[low + 1]),
        np.where(values > ordered[high], ordered[high], ordered[high + 1]),
    )


def _check(factor: float) -> None:
    if not factor >= 1:
        raise DistanceError("distance.bad_factor", factor=factor)
