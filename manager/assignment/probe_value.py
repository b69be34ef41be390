"""Probes that could change a plan: what each is expected to save, and which are worth their pages.

A unit costs an agent work: bytes times distance, at the price of the agent's time. Where an agent
did not measure the unit, its distance is predicted with an error, so its cost is lognormal. A probe
saves the difference to the cost at the best agent that measured the unit, if it is positive; what
is expected is the mean over the error. A far agent or a small unit is not worth a probe, however
uncertain its distance is.
Invariant: a pair that is measured, or may not be, is never chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from manager.assignment.errors import RuleError

__all__ = ["ValueRules", "are_spared", "choose_probes", "expected_savings"]

Matrix: TypeAlias = npt.NDArray[np.floating[Any]]
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

_SMALLEST: Final = 1e-300
_SURE: Final = 1e-6
"""Least error of a logarithm: a sure prediction is a step, and no division by zero."""


@dataclass(frozen=True)
class ValueRules:
    """gain: least saving of a probe, in the work that its pages cost. most: agents of a unit.

    whole_gain: the same where a probe sees the whole unit, of which nothing is left to fetch then;
    not if more than whole_most of the units are such: they are the crawl.
    """

    gain: float
    most: int
    whole_gain: float
    whole_most: float = 1.0

    def __post_init__(self) -> None:
        if self.most < 1:
            raise RuleError("assignment.bad_probe_rule", name="most", agents=self.most)


def expected_savings(cost: Matrix, error: Matrix, best: FloatArray) -> FloatArray:
    """Return (agents, units) the mean of max(0, best - cost): what a probe is expected to save.

    cost: (agents, units) the median of the cost. error: (agents, units) of its logarithm,
    one standard deviation. best: (units,) lowest known cost, inf: none is known.
    """
    spread = np.maximum(error.astype(np.float64), _SURE)
    middle = np.log(np.maximum(cost.astype(np.float64), _SMALLEST))
    known = np.isfinite(best)
    limit = np.where(known, np.maximum(best, _SMALLEST), 1.0)
    below = (np.log(limit) - middle) / spread
    mean = np.exp(np.minimum(middle + spread**2 / 2, 700.0))
    saving = limit * _normal(below) - mean * _normal(below - spread)
    return np.asarray(np.where(known, np.maximum(saving, 0.0), np.inf))


def are_spared(whole: int, units: int, most_share: float) -> bool:
    """Return whether units that a probe sees whole are spared other probes.

    whole: how many of the units are such. Above most_share they are the crawl, and where they go
    decides when it ends.
    """
    return whole <= most_share * units


def choose_probes(
    savings: FloatArray,
    allowed: BoolArray,
    pages_cost: FloatArray,
    whole: BoolArray,
    rules: ValueRules,
) -> tuple[IntArray, IntArray]:
    """Return (pairs,) agents and units, the pair that saves most for its pages first.

    savings: (agents, units) of `expected_savings`. allowed: (agents, units) pairs that may be
    probed. pages_cost: (units,) work of the pages of one probe. whole: (units,) that is all of it.
    """
    spared = are_spared(int(whole.sum()), len(whole), rules.whole_most)
    whole_gain = max(rules.gain, rules.whole_gain) if spared else rules.gain
    least = np.where(whole, whole_gain, rules.gain) * pages_cost
    worth = allowed & (savings >= least) & (savings > 0)
    most = min(rules.most, len(savings))
    ranked = np.where(worth, savings, -1.0)
    best = np.argpartition(-ranked, most - 1, axis=0)[:most]
    unit = np.broadcast_to(np.arange(savings.shape[1]), best.shape)
    agent, unit = best.ravel(), unit.ravel()
    kept = worth[agent, unit]
    agent, unit = agent[kept], unit[kept]
    for_pages = savings[agent, unit] / np.maximum(pages_cost[unit], _SMALLEST)
    order = np.lexsort((agent, unit, -for_pages))
    return agent[order].astype(np.intp), unit[order].astype(np.intp)


def _normal(x: FloatArray) -> FloatArray:
    """Return the normal distribution below x, to 1e-7 (Abramowitz and Stegun, 26.2.17)."""
    far = np.abs(np.clip(x, -38.0, 38.0))
    t = 1 / (1 + 0.2316419 * far)
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (
        -1.821255978 + t * 1.330274429))))  # fmt: skip
    tail = np.exp(-far * far / 2) / np.sqrt(2 * np.pi) * series
    return np.asarray(np.where(x >= 0, 1 - tail, tail))
