"""Training data and result of the distance model; both are sent between processes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manager.distance.prediction import Probes, fit

__all__ = ["TrainingData", "TrainingResult", "train"]


@dataclass(frozen=True)
class TrainingData:
    """Probes to train on. agents: their numbers, in the order that `probes` has them in.

    units: how many units the probes are of.
    """

    agents: tuple[int, ...]
    probes: Probes
    units: int


@dataclass(frozen=True)
class TrainingResult:
    """agents: the number of each that was seen in a probe, to its level and its loadings."""

    agents: dict[int, list[float]]
    noise: float


def train(training_data: TrainingData) -> TrainingResult | None:
    """Return the trained model; None where there is no probe."""
    probes = training_data.probes
    model = fit(probes, len(training_data.agents), training_data.units)
    if model is None:
        return None
    seen = np.bincount(probes.agent, minlength=len(training_data.agents))
    numbers = np.column_stack([model.levels, model.loadings])
    return TrainingResult(
        {
            agent: numbers[row].tolist()
            for row, agent in enumerate(training_data.agents)
            if seen[row]
        },
        model.noise,
    )
