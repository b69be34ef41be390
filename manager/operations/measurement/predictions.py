"""Reads the model that predicts distances; `distance_model` trains it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manager.db.engine import Transaction
from manager.db.measurement import predictions
from manager.distance.prediction import Model

__all__ = ["LoadedModel", "load_model"]


@dataclass(frozen=True)
class LoadedModel:
    """A model whose rows are some agents. known: (agents,) it has seen probes of the agent."""

    model: Model
    known: npt.NDArray[np.bool_]


def load_model(tx: Transaction, agent_ids: Sequence[int]) -> LoadedModel | None:
    """Return the newest model, its rows in the order of some agents; None before the first.

    An agent that it does not know is taken for an average one.
    """
    row = predictions.stored_model(tx)
    if row is None:
        return None
    known = {int(agent): numbers for agent, numbers in json.loads(row.agents).items()}
    average = np.mean(list(known.values()), axis=0)
    numbers = np.array([known.get(agent, average) for agent in agent_ids], dtype=np.float64)
    numbers = numbers.reshape(len(agent_ids), len(average))
    return LoadedModel(
        Model(numbers[:, 0].copy(), numbers[:, 1:].copy(), row.noise),
        np.array([agent in known for agent in agent_ids], dtype=np.bool_),
    )
