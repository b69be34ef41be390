"""Learn from what was measured what was not: the model of distances, kept and read.

Invariant: a model is only ever made from measurements, never from predictions, and one row holds
the newest. It is made anew when reports came since, before a plan and every ten minutes else;
outside any transaction, for it takes seconds where there are many probes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from manager.db import agents, predictions, probes, rounds
from manager.db.engine import Database, Transaction
from manager.db.predictions import ModelRow
from manager.distance import Model, Probes, fit

__all__ = ["Learned", "load_model", "refresh_model"]

PROBES_MOST: Final = 100_000
"""Four seconds; the source's whole experiment is 110,500."""
AGE_MS: Final = 600_000


@dataclass(frozen=True)
class Learned:
    """A model whose rows are some agents. known: (agents,) it has seen probes of the agent."""

    model: Model
    known: npt.NDArray[np.bool_]


def refresh_model(db: Database, now_ms: int, *, only_before_plan: bool = False) -> bool:
    """Make the model anew where it is due; tell whether it was.

    only_before_plan: where a plan comes next, and not because ten minutes are over.
    """
    with db.read() as tx:
        known = predictions.stored_model(tx)
        newest = predictions.newest_report(tx)
        if newest == (known.report_id if known is not None else 0):
            return False
        current = rounds.open_round(tx)
        plans_next = (
            current is not None
            and current.state == "probing"
            and not probes.any_open(tx, current.number)
        )
        young = known is not None and 0 <= now_ms - known.made_ms < AGE_MS
        if not plans_next and (young or only_before_plan):
            return False
        ids = [row.id for row in agents.all_agents(tx) if row.takes_part]
        learned = predictions.probes_to_learn_from(tx, ids, PROBES_MOST)
    row = _learn(learned, ids, newest, now_ms)
    if row is None:
        return False
    with db.write() as tx:
        predictions.set_model(tx, row)
    return True


def _learn(
    learned: Sequence[tuple[int, int, float]], ids: Sequence[int], newest: int, now_ms: int
) -> ModelRow | None:
    row_of = {agent: row for row, agent in enumerate(ids)}
    unit_ids, column = np.unique(
        np.array([unit for unit, _, _ in learned], dtype=np.int64), return_inverse=True
    )
    probed = Probes(
        agent=np.array([row_of[agent] for _, agent, _ in learned], dtype=np.intp),
        unit=column.astype(np.intp),
        ms_per_kb=np.array([distance for _, _, distance in learned], dtype=np.float64),
    )
    model = fit(probed, len(ids), len(unit_ids))
    if model is None:
        return None
    seen = np.bincount(probed.agent, minlength=len(ids))
    numbers = {
        str(agent): [float(model.levels[row]), *model.loadings[row].tolist()]
        for agent, row in row_of.items()
        if seen[row]
    }
    return ModelRow(now_ms, newest, len(learned), model.noise, json.dumps(numbers))


def load_model(tx: Transaction, agent_ids: Sequence[int]) -> Learned | None:
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
    return Learned(
        Model(numbers[:, 0].copy(), numbers[:, 1:].copy(), row.noise),
        np.array([agent in known for agent in agent_ids], dtype=np.bool_),
    )
