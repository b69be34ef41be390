"""The distances of a plan: measured, or predicted where no agent measured, and the tree.

Invariants: `predicted` marks every number that no agent measured; the tree is made from measured
distances only. An agent's claims count within bounds (`manager.distance.distance_bounds`).
A prediction bars a move: where an agent measured a unit, it goes to one that did, or stays; pairs
that could change a plan are probed first (`manager.operations.rounds.more_probes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from manager.balancing.arrays import NO_OWNER
from manager.distance.distance_bounds import bounded_distances, excess_nearness, overall_factor
from manager.distance.minimum_spanning_tree import (
    SpanningTree,
    landmarks,
    network_distance,
    spanning_tree,
)
from manager.distance.prediction import Probes, fit
from manager.operations.measurement.distance_model import LoadedModel

__all__ = [
    "DistanceMatrix",
    "barred",
    "between_agents",
    "complete",
    "fetched_elsewhere",
    "tree_of",
]

Matrix: TypeAlias = npt.NDArray[np.floating[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[np.intp]

COLUMNS_AT_ONCE: Final = 16_384
LEARN_COLUMNS: Final = 20_000


@dataclass(frozen=True)
class DistanceMatrix:
    """ms_per_kb: (agents, units), inf where unreachable, nan where nothing is known at all.

    predicted: (agents, units) no agent measured it.
    """

    ms_per_kb: Matrix
    predicted: BoolArray


def complete(measured: Matrix, learned: LoadedModel | None, trust: float) -> DistanceMatrix:
    """Fill unmeasured distances with predictions of the model, and bound the claims of agents.

    measured: (agents, units), inf where unreachable, nan where not measured; it is filled itself.
    learned: None makes a model from the matrix. trust: the factor of
    `manager.distance.distance_bounds`.
    """
    gaps: BoolArray = np.isnan(measured)
    learned = learned or _learned(measured)
    if learned is None:
        return DistanceMatrix(measured, gaps)
    if gaps.any():
        _fill(measured, gaps, learned)
    distrusted = excess_nearness(learned.model, learned.known, overall_factor(trust)) > 0
    return DistanceMatrix(bounded_distances(measured, trust, distrusted), gaps)


def _fill(measured: Matrix, gaps: BoolArray, learned: LoadedModel) -> None:
    for start in range(0, measured.shape[1], COLUMNS_AT_ONCE):
        part = measured[:, start : start + COLUMNS_AT_ONCE]
        missing = gaps[:, start : start + COLUMNS_AT_ONCE]
        columns = np.flatnonzero(missing.any(axis=0))
        if len(columns):
            filled = part[:, columns]
            places = learned.model.places(_probes(filled), len(columns))
            guessed = learned.model.predict(places)
            part[:, columns] = np.where(np.isnan(filled), guessed, filled)


def _learned(measured: Matrix) -> LoadedModel | None:
    """Return a model of a matrix itself, from the units that most agents measured."""
    seen = np.isfinite(measured).sum(axis=0)
    columns = np.sort(np.argsort(-seen, kind="stable")[:LEARN_COLUMNS])
    model = fit(_probes(measured[:, columns]), len(measured), len(columns))
    return (
        None if model is None else LoadedModel(model, np.asarray(np.isfinite(measured).any(axis=1)))
    )


def _probes(distance: Matrix) -> Probes:
    agent, unit = np.nonzero(np.isfinite(distance))
    return Probes(agent, unit, distance[agent, unit])


def barred(
    matrix: DistanceMatrix,
    unreachable: BoolArray,
    owner: IntArray,
    group: IntArray,
    minor: BoolArray,
) -> BoolArray:
    """Return (agents, units) the pairs that a plan avoids: unreachable, or only predicted.

    owner: (units,) row of the present owner, who may keep its units, or NO_OWNER. group: (units,)
    units that go together. minor: (units,) small ones, which few agents probe: their predictions
    bar no group that has others. Predictions that bar a group from all agents do not count.
    """
    measured = np.isfinite(matrix.ms_per_kb) & ~matrix.predicted
    guessed: BoolArray = matrix.predicted & measured.any(axis=0)
    owned = np.flatnonzero(owner != NO_OWNER)
    guessed[owner[owned], owned] = False
    if guessed.any():
        _, of_unit = np.unique(group, return_inverse=True)
        groups = int(of_unit.max()) + 1
        has_others = np.zeros(groups, dtype=np.bool_)
        has_others[of_unit[~minor]] = True
        guessed[:, minor & has_others[of_unit]] = False
        nobody = np.ones(groups, dtype=np.bool_)
        for row in guessed | unreachable:
            held = np.zeros(groups, dtype=np.bool_)
            held[of_unit[row]] = True
            nobody &= held
        guessed[:, nobody[of_unit]] = False
    return guessed | unreachable


def fetched_elsewhere(predicted: BoolArray, fetcher: IntArray, group: IntArray) -> BoolArray:
    """Return (agents, units) the pairs without a measurement, of units that an agent fetched whole.

    fetcher: (units,) its row, or NO_OWNER. An address counts where one agent fetched all its units.
    """
    _, of_unit = np.unique(group, return_inverse=True)
    low = np.full(len(fetcher), np.iinfo(np.intp).max, dtype=np.intp)
    high = np.full(len(fetcher), NO_OWNER, dtype=np.intp)
    np.minimum.at(low, of_unit, fetcher)
    np.maximum.at(high, of_unit, fetcher)
    kept = (low == high)[of_unit] & (fetcher != NO_OWNER)
    return np.asarray(predicted & kept[None, :])


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
