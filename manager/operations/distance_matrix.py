"""The distances that a plan is made from: measured, predicted where nobody measured, and the tree.

Invariants: `predicted` marks every number that nobody measured; the tree is made from measured
distances only. A prediction bars a move: where somebody measured a unit, it goes to an agent that
did, or stays; the units that a plan would move on a prediction are probed first
(`manager.operations.verifying`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from manager.balancing import NOBODY
from manager.distance import (
    Model,
    Probes,
    SpanningTree,
    fit,
    landmarks,
    network_distance,
    spanning_tree,
)

__all__ = ["DistanceMatrix", "barred", "between_agents", "complete", "tree_of"]

Matrix: TypeAlias = npt.NDArray[np.floating[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[np.intp]

COLUMNS_AT_ONCE: Final = 16_384
LEARN_COLUMNS: Final = 20_000


@dataclass(frozen=True)
class DistanceMatrix:
    """ms_per_kb: (agents, units), inf where unreachable, nan where nothing is known at all.

    predicted: (agents, units) nobody measured it.
    """

    ms_per_kb: Matrix
    predicted: BoolArray


def complete(measured: Matrix, model: Model | None) -> DistanceMatrix:
    """Fill what nobody measured by what the model says, or one that is made from the matrix.

    measured: (agents, units), inf where unreachable, nan where not measured; it is filled itself.
    """
    gaps: BoolArray = np.isnan(measured)
    if not gaps.any():
        return DistanceMatrix(measured, gaps)
    model = model or _learned(measured)
    if model is None:
        return DistanceMatrix(measured, gaps)
    for start in range(0, measured.shape[1], COLUMNS_AT_ONCE):
        part = measured[:, start : start + COLUMNS_AT_ONCE]
        missing = gaps[:, start : start + COLUMNS_AT_ONCE]
        columns = np.flatnonzero(missing.any(axis=0))
        if len(columns):
            filled = part[:, columns]
            places = model.places(_probes(filled), len(columns))
            part[:, columns] = np.where(np.isnan(filled), model.predict(places), filled)
    return DistanceMatrix(measured, gaps)


def _learned(measured: Matrix) -> Model | None:
    """Return a model of a matrix itself, from the units that most agents measured."""
    seen = np.isfinite(measured).sum(axis=0)
    columns = np.sort(np.argsort(-seen, kind="stable")[:LEARN_COLUMNS])
    return fit(_probes(measured[:, columns]), len(measured), len(columns))


def _probes(distance: Matrix) -> Probes:
    agent, unit = np.nonzero(np.isfinite(distance))
    return Probes(agent, unit, distance[agent, unit])


def barred(
    matrix: DistanceMatrix, unreachable: BoolArray, owner: IntArray, group: IntArray
) -> BoolArray:
    """Return (agents, units) who should not be given what: unreachable, or only predicted.

    owner: (units,) row of the present owner or NOBODY, who may keep what it has. group: (units,)
    units that go together. Where predictions bar a group from everybody they do not count.
    """
    measured = np.isfinite(matrix.ms_per_kb) & ~matrix.predicted
    guessed: BoolArray = matrix.predicted & measured.any(axis=0)
    owned = np.flatnonzero(owner != NOBODY)
    guessed[owner[owned], owned] = False
    if guessed.any():
        _, of_unit = np.unique(group, return_inverse=True)
        groups = int(of_unit.max()) + 1
        nobody = np.ones(groups, dtype=np.bool_)
        for row in guessed | unreachable:
            held = np.zeros(groups, dtype=np.bool_)
            held[of_unit[row]] = True
            nobody &= held
        guessed[:, nobody[of_unit]] = False
    return guessed | unreachable


def between_agents(matrix: DistanceMatrix) -> npt.NDArray[np.float64]:
    """Return (agents, agents) the distances of agents, by what they measured."""
    measured = np.where(matrix.predicted, np.nan, matrix.ms_per_kb)
    return network_distance(measured[:, landmarks(measured)])


def tree_of(
    between: npt.NDArray[np.float64], names: Sequence[str], before: Sequence[tuple[str, str]]
) -> SpanningTree:
    """Return the tree along which agents exchange units, near to the last one.

    before: its edges, by names; those of agents that are gone do not count.
    """
    row_of = {name: row for row, name in enumerate(names)}
    kept = [
        (row_of[first], row_of[second])
        for first, second in before
        if first in row_of and second in row_of
    ]
    return spanning_tree(between, kept)
