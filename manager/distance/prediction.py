"""Prediction of unmeasured distances from measured ones: a rank 3 model of log distance.

log d(agent, unit) = level of the agent + loadings of the agent . place of the unit + noise. The
first factor begins as the host's own level, the other three hold which agents see which hosts
near. It is fitted by expectation and maximisation with priors, so that an agent or a unit with few
probes is predicted near the average, where plain least squares overfits (and does worse than no
factors at all). Noise is Student's t with 4 degrees of freedom: one wrong probe moves little.
Of the units nothing is kept: where a unit lies follows from its own probes and the agents' numbers.
Invariant: a measured distance is never replaced; a prediction carries its possible error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from manager.distance.errors import DistanceError
from manager.distance.spread import LEAST_MS_PER_KB

__all__ = ["RANK", "Model", "Places", "Probes", "fit"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]

RANK: Final = 3
ITERATIONS: Final = 25
PLACING: Final = 3
"""How often the weights of a unit's probes are recomputed while it is placed."""
FREEDOM: Final = 4.0
PRIOR_NOISE: Final = 0.3**2
"""Variance of log distance from one probe of 50 pages to the next; worth `PRIOR_PROBES` probes."""
PRIOR_PROBES: Final = 20.0
LEVEL_SD: Final = 0.5
"""How much hosts differ as a whole, and how much agents do in one factor, before anything is known:
half a natural logarithm."""
SUSPECT_SD: Final = 4.0
SUSPECT_FACTOR: Final = 4.0
"""A probe is an outlier when it is 4 standard deviations and 4 times off what others predict."""


MOST_APART: Final = math.log(1e6)
"""Farther from what is expected than a million times is no better known."""


@dataclass(frozen=True)
class Probes:
    """Measured distances: agent, unit (probes,) indices; ms_per_kb (probes,) finite, >= 0."""

    agent: IntArray
    unit: IntArray
    ms_per_kb: npt.NDArray[np.floating[Any]]

    def __post_init__(self) -> None:
        if not len(self.agent) == len(self.unit) == len(self.ms_per_kb):
            raise DistanceError(
                "distance.few_distances",
                agents=len(self.agent),
                units=len(self.unit),
                distances=len(self.ms_per_kb),
            )
        if len(self.ms_per_kb) and not (
            np.isfinite(self.ms_per_kb).all() and self.ms_per_kb.min() >= 0
        ):
            raise DistanceError("distance.bad_number")

    @property
    def logs(self) -> FloatArray:
        """Return (probes,) natural logarithms; no time at all counts as a gigabyte a second."""
        return np.log(np.maximum(self.ms_per_kb.astype(np.float64), LEAST_MS_PER_KB))


@dataclass(frozen=True)
class Places:
    """Positions of units: mean (units, factors), covariance (units, factors, factors)."""

    mean: FloatArray
    covariance: FloatArray


@dataclass(frozen=True)
class Model:
    """The trained model. levels: (agents,). loadings: (agents, factors). noise: a variance."""

    levels: FloatArray
    loadings: FloatArray
    noise: float

    def places(self, probes: Probes, units: int) -> Places:
        """Return where units lie by their own probes; without a probe, where most units lie."""
        rest = probes.logs - self.levels[probes.agent]
        weight = np.ones(len(rest))
        found = _places(self, probes, rest, weight, units)
        for _ in range(PLACING - 1):
            weight = _weights(self, probes, rest, found)
            found = _places(self, probes, rest, weight, units)
        return found

    def predict(self, places: Places) -> FloatArray:
        """Return (agents, units) ms per KByte: as likely to be longer as shorter."""
        return np.exp(self.levels[:, None] + self.loadings @ places.mean.T)

    def off_by(self, places: Places) -> FloatArray:
        """Return (agents, units) the factor within which two of three predictions are."""
        spread = np.einsum("iq,jqp,ip->ij", self.loadings, places.covariance, self.loadings)
        return np.asarray(np.exp(np.sqrt(self.noise + np.maximum(spread, 0))))

    def outliers(self, probes: Probes, units: int) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return (probes,) each over what the unit's other probes predict, and if that is odd.

        A unit with one probe has no others: its factor is against the typical unit.
        """
        rest = probes.logs - self.levels[probes.agent]
        places = self.places(probes, units)
        weight = _weights(self, probes, rest, places)
        rows = self.loadings[probes.agent]
        fitted = np.einsum("nq,nq->n", rows, places.mean[probes.unit])
        own = np.einsum("nq,nqp,np->n", rows, places.covariance[probes.unit], rows)
        share = np.clip(weight * own / self.noise, 0, 0.999)
        apart = (rest - fitted) / (1 - share)
        spread = np.sqrt(self.noise + own / (1 - share))
        odd = (np.abs(apart) > SUSPECT_SD * spread) & (np.abs(apart) > math.log(SUSPECT_FACTOR))
        return np.exp(np.clip(apart, -MOST_APART, MOST_APART)), odd


def fit(probes: Probes, agents: int, units: int, *, rank: int = RANK) -> Model | None:
    """Learn the agents' numbers from probes; None without one.

    Agents without a probe get what the average agent has. Takes 25 passes over the probes.
    """
    if not len(probes.agent):
        return None
    logs = probes.logs
    factors = 1 + max(0, min(rank, agents - 2))
    levels = _additive(probes, logs, agents, units)
    loadings = np.random.default_rng(0).normal(0, 0.1, (agents, factors))
    loadings[:, 0] = LEVEL_SD
    rest = logs - levels[probes.agent]
    model = Model(levels, loadings, max(PRIOR_NOISE, float(np.median(rest**2)) / 2))
    weight = np.ones(len(logs))
    for _ in range(ITERATIONS):
        rest = logs - model.levels[probes.agent]
        places = _places(model, probes, rest, weight, units)
        weight = _weights(model, probes, rest, places)
        model = _better(model, probes, logs, weight, places)
    return model


def _additive(probes: Probes, logs: FloatArray, agents: int, units: int) -> FloatArray:
    """Return (agents,) levels after removing each unit's own, with a weak pull to the middle."""
    seen_agent = np.bincount(probes.agent, minlength=agents)
    seen_unit = np.bincount(probes.unit, minlength=units)
    middle = float(np.median(logs))
    level, own = np.full(agents, middle), np.zeros(units)
    for _ in range(10):
        own = np.bincount(probes.unit, logs - level[probes.agent], units) / (seen_unit + 1)
        level = np.bincount(probes.agent, logs - own[probes.unit], agents) + middle
        level /= seen_agent + 1
    return np.asarray(level, dtype=np.float64)


def _places(
    model: Model, probes: Probes, rest: FloatArray, weight: FloatArray, units: int
) -> Places:
    """Return the posterior of each unit's place, given weighted probes of it."""
    factors = model.loadings.shape[1]
    rows = model.loadings[probes.agent]
    share = weight / model.noise
    precision = np.empty((units, factors, factors))
    pull = np.empty((units, factors))
    for first in range(factors):
        pull[:, first] = np.bincount(probes.unit, rows[:, first] * rest * share, units)
        for second in range(first, factors):
            total = np.bincount(probes.unit, rows[:, first] * rows[:, second] * share, units)
            precision[:, first, second] = precision[:, second, first] = total
    precision += np.eye(factors)
    covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
    return Places(np.einsum("jqp,jp->jq", covariance, pull), covariance)


def _residual(model: Model, probes: Probes, rest: FloatArray, places: Places) -> FloatArray:
    """Return (probes,) expected squares of the residuals of the model."""
    rows = model.loadings[probes.agent]
    apart = rest - np.einsum("nq,nq->n", rows, places.mean[probes.unit])
    own = np.einsum("nq,nqp,np->n", rows, places.covariance[probes.unit], rows)
    return np.asarray(apart**2 + own)


def _weights(model: Model, probes: Probes, rest: FloatArray, places: Places) -> FloatArray:
    """Return (probes,) how much each counts: one far from what is expected counts little."""
    square = _residual(model, probes, rest, places)
    return np.asarray((FREEDOM + 1) / (FREEDOM + square / model.noise))


def _better(
    model: Model, probes: Probes, logs: FloatArray, weight: FloatArray, places: Places
) -> Model:
    """Return the agents' numbers that fit best where the units lie: one regression for each."""
    agents, factors = model.loadings.shape
    mean, covariance = places.mean[probes.unit], places.covariance[probes.unit]
    with_one = np.concatenate([mean, np.ones((len(mean), 1))], axis=1)
    gram = np.empty((agents, factors + 1, factors + 1))
    pull = np.empty((agents, factors + 1))
    for first in range(factors + 1):
        pull[:, first] = np.bincount(probes.agent, weight * with_one[:, first] * logs, agents)
        for second in range(first, factors + 1):
            product = with_one[:, first] * with_one[:, second]
            if second < factors:
                product = product + covariance[:, first, second]
            total = np.bincount(probes.agent, weight * product, agents)
            gram[:, first, second] = gram[:, second, first] = total
    # Before anything is known an agent is as the average one: the prior's centre and strength.
    centre = np.append(np.zeros(factors), np.median(model.levels))
    centre[0] = float(np.mean(model.loadings[:, 0]))
    strength = np.append(np.full(factors, model.noise / LEVEL_SD**2), model.noise)
    gram += np.diag(strength)
    pull += strength * centre
    solved = np.linalg.solve(gram, pull[:, :, None])[:, :, 0]
    better = Model(solved[:, -1].copy(), solved[:, :-1].copy(), model.noise)
    square = _residual(better, probes, logs - better.levels[probes.agent], places)
    noise = (float(weight @ square) + PRIOR_PROBES * PRIOR_NOISE) / (len(logs) + PRIOR_PROBES)
    return Model(better.levels, better.loadings, max(noise, 1e-4))
