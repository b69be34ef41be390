"""Transfer cost: volume times distance, for every agent and unit, with the gaps filled.

Invariant: `CostMatrix.costs` is finite everywhere, so sums and makespans always are. Pairs that are
known not to work are marked in `unreachable`, guessed ones in `assumed`; no guess can be mistaken
for a measurement.
A better prediction of the gaps than one typical number is left to the module that fills the
distances.
Source: seed 004, formulas (4) and (5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from manager.balancing.arrays import NO_OWNER, BoolArray, FloatArray, IntArray, Matrix
from manager.balancing.errors import BalancingError

__all__ = ["CostMatrix", "Fill", "agent_costs", "cost_matrix", "makespan"]

Fill = Literal["largest", "median"]

_COLUMNS_AT_ONCE: Final = 16_384


@dataclass(frozen=True)
class CostMatrix:
    """Cost of each unit for each agent.

    costs: (agents, units) ms, finite. unreachable: (agents, units) the agent tried and got
    nothing. assumed: (agents, units) no measurement stands behind the cost. assumed_volume:
    (units,) the volume is the median of the known ones.
    """

    costs: Matrix
    unreachable: BoolArray
    assumed: BoolArray
    assumed_volume: BoolArray


def cost_matrix(volume_kb: FloatArray, distance: Matrix, *, fill: Fill = "largest") -> CostMatrix:
    """Multiply volumes by distances and fill the unknown ones.

    volume_kb: (units,) KBytes of 1,000 bytes, nan where unknown. distance: (agents, units) ms per
    KByte, nan where not measured, inf where unreachable. The result has its floating type.

    A missing distance becomes the largest (or median) of those that other agents measured to
    the unit, so that an unmeasured distance never looks better than a measured one; a unit that
    no agent reached takes each agent's own median, then the median of all, then 1. So an
    unreachable pair has a cost too, for the case that no other agent may have the unit.
    """
    agents, units = distance.shape
    if volume_kb.shape != (units,):
        raise BalancingError(
            "balancing.wrong_shape", name="volume_kb", shape=volume_kb.shape, wanted=(units,)
        )
    if np.any(volume_kb < 0) or np.any(np.isinf(volume_kb)):
        raise BalancingError("balancing.bad_volume")
    if agents and units and np.nanmin(distance, initial=np.inf) < 0:
        raise BalancingError("balancing.bad_distance")
    assumed_volume = np.isnan(volume_kb)
    volume = np.where(assumed_volume, _median_known(volume_kb), volume_kb)
    of_agent = _typical_of_agents(distance)
    costs = np.empty_like(distance)
    assumed = np.empty(distance.shape, dtype=np.bool_)
    for start in range(0, units, _COLUMNS_AT_ONCE):
        part = slice(start, start + _COLUMNS_AT_ONCE)
        given = distance[:, part]
        guessed: BoolArray = ~np.isfinite(given)
        costs[:, part] = _filled(given, guessed, fill, of_agent) * volume[part]
        assumed[:, part] = guessed
    return CostMatrix(costs, np.isinf(distance), assumed, assumed_volume)


def _filled(given: Matrix, guessed: BoolArray, fill: Fill, of_agent: FloatArray) -> Matrix:
    """Return one block of distances without gaps; shapes (agents, block)."""
    if not guessed.any():
        return given
    if fill == "largest":
        of_unit = np.where(guessed, -np.inf, given).max(axis=0)
    else:
        of_unit = _column_medians(given, guessed)
    unseen = np.asarray(guessed.all(axis=0))
    guess = np.where(unseen[None, :], of_agent[:, None], of_unit[None, :])
    return np.where(guessed, guess, given)


def _column_medians(given: Matrix, guessed: BoolArray) -> FloatArray:
    """Return the median of each column's known values; 0 where a column has none.

    Sorting puts the unknown last, so no column needs a loop or a nan warning.
    """
    ordered = np.sort(np.where(guessed, np.inf, given), axis=0)
    known = (~guessed).sum(axis=0)
    columns = np.arange(given.shape[1])
    low = ordered[np.maximum(known - 1, 0) // 2, columns].astype(np.float64)
    high = ordered[np.minimum(known // 2, len(ordered) - 1), columns].astype(np.float64)
    return np.where(known > 0, (np.where(known > 0, low, 0) + np.where(known > 0, high, 0)) / 2, 0)


def _typical_of_agents(distance: Matrix) -> FloatArray:
    """Return (agents,) each agent's median measured distance, else the median of those, else 1."""
    own = np.array([_median_known(row) for row in distance], dtype=np.float64)
    measured = own[np.isfinite(distance).any(axis=1)] if len(own) else own
    overall = float(np.median(measured)) if len(measured) else 1.0
    return np.where(np.isfinite(distance).any(axis=1), own, overall)


def _median_known(values: Matrix) -> float:
    """Return the median of the finite values; 1 where there is none."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else 1.0


def agent_costs(costs: Matrix, owner: IntArray) -> FloatArray:
    """Return (agents,) ms: the cost of each agent's units. Units without an owner cost no agent.

    costs: (agents, units). owner: (units,) agent index or NO_OWNER. Source: formula (5).
    """
    owned = np.flatnonzero(owner != NO_OWNER)
    mine = owner[owned]
    loads = np.bincount(mine, weights=costs[mine, owned], minlength=len(costs))
    return np.asarray(loads, dtype=np.float64)


def makespan(loads: FloatArray) -> tuple[float, int]:
    """Return the greatest agent cost in ms and whose it is (the first of equals).

    loads: (agents,), at least one. Source: seed 004, expression (1).
    """
    busiest = int(np.argmax(loads))
    return float(loads[busiest]), busiest
