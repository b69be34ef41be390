"""Transfer cost: volume times distance, for every agent and unit, with the gaps filled.

Invariant: `CostMatrix.costs` is finite everywhere, so sums and makespans always are. Pairs that are
known not to work are marked in `unreachable`.
A better prediction of the gaps than one typical number is left to the module that fills the
distances.
Source: seed 004, formulas (4) and (5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from manager.balancing.arrays import NO_OWNER, BoolArray, FloatArray, IntArray, Matrix
from manager.balancing.errors import BalancingError

__all__ = ["CostMatrix", "agent_costs", "cost_matrix", "makespan"]

_COLUMNS_AT_ONCE: Final = 16_384


@dataclass(frozen=True)
class CostMatrix:
    """Cost of each unit for each agent.

    costs: (agents, units) ms, finite. unreachable: (agents, units) the agent tried and got
    nothing.
    """

    costs: Matrix
    unreachable: BoolArray


def cost_matrix(volume_kb: FloatArray, distance: Matrix) -> CostMatrix:
    """Multiply volumes by distances and fill the unknown ones.

    volume_kb: (units,) KBytes of 1,000 bytes, nan where unknown. distance: (agents, units) ms per
    KByte, nan where not measured, inf where unreachable. The result has its floating type.

    A missing distance becomes the largest of those that other agents measured to the unit, so that
    an unmeasured distance never looks better than a measured one; a unit that no agent reached
    takes each agent's own median, then the median of all, then 1. So an unreachable pair has a cost
    too, for the case that no other agent may have the unit.
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
    volume = np.where(np.isnan(volume_kb), _median_known(volume_kb), volume_kb)
    of_agent = _typical_of_agents(distance)
    costs = np.empty_like(distance)
    for start in range(0, units, _COLUMNS_AT_ONCE):
        part = slice(start, start + _COLUMNS_AT_ONCE)
        costs[:, part] = _filled(distance[:, part], of_agent) * volume[part]
    return CostMatrix(costs, np.isinf(distance))


def _filled(given: Matrix, of_agent: FloatArray) -> Matrix:
    """Return one block of distances without gaps; shapes (agents, block)."""
    guessed: BoolArray = ~np.isfinite(given)
    if not guessed.any():
        return given
    of_unit = np.where(guessed, -np.inf, given).max(axis=0)
    unseen = np.asarray(guessed.all(axis=0))
    guess = np.where(unseen[None, :], of_agent[:, None], of_unit[None, :])
    return np.where(guessed, guess, given)


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
