"""Training data and result of the distance model; both are sent between processes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manager.distance.prediction import Probes, fit

__all__ = ["Lesson", "Taught", "learn"]


@dataclass(frozen=True)
class Lesson:
    """Probes to learn from. agents: their numbers, in the order that `probes` has them in.

    units: how many units the probes are of.
    """

    agents: tuple[int, ...]
    probes: Probes
    units: int


@dataclass(frozen=True)
class Taught:
    """agents: the number of each that was seen in a probe, to its level and its loadings."""

    agents: dict[int, list[float]]
    noise: float


def learn(lesson: Lesson) -> Taught | None:
    """Return what a lesson comes to; None where there is no probe in it."""
    probes = lesson.probes
    model = fit(probes, len(lesson.agents), lesson.units)
    if model is None:
        return None
    seen = np.bincount(probes.agent, minlength=len(lesson.agents))
    numbers = np.column_stack([model.levels, model.loadings])
    return Taught(
        {agent: numbers[row].tolist() for row, agent in enumerate(lesson.agents) if seen[row]},
        model.noise,
    )
