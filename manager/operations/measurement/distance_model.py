"""The model that predicts unmeasured distances: when it is trained, of which data, and its use.

Invariants: a model is only ever made from measurements, never from predictions, and one row holds
the newest. It is made again when reports came since, before a round's plan and every ten minutes
else; one at a time, outside any transaction, for it takes seconds where there are many probes.
Where it cannot be made, plans use the one before.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.measurement import predictions
from manager.db.measurement.predictions import ModelRow
from manager.db.planning import probe_progress, probes
from manager.db.rounds import rounds
from manager.db.rounds.rounds import RoundRow
from manager.distance.prediction import Model, Probes
from manager.distance.training_data import TrainingData, TrainingResult, train
from shared.frozen import frozen

__all__ = ["IsTrained", "LoadedModel", "ModelTraining", "Trainer", "is_trained_here", "load_model"]

PROBES_MOST: Final = 100_000
"""Four seconds; the source's whole experiment is 110,500."""
AGE_MS: Final = 600_000

Trainer = Callable[[TrainingData], TrainingResult | None]
"""`manager.distance.training_data.train`, or the same in a child process."""

IsTrained = Callable[[Database, int], bool]
"""Returns at a time (ms) whether the model knows all reports, so that a round may be planned."""


@frozen
class _News:
    """Reports since the model was trained, up to `report`.

    known: the newest report that the model knows of; made_ms: since when; None: there is none.
    round: what is planned next; None: nothing.
    """

    report: int
    known: int
    made_ms: int | None
    round: int | None


class ModelTraining:
    """Trainer of the model; any thread may call it. One for each process."""

    def __init__(self, trainer: Trainer = train) -> None:
        self._trainer = trainer
        self._turn = threading.Lock()
        self._looked = 0  # at the reports up to this one, if there was anything to learn or not
        self._failed_ms: int | None = None
        self._awaited: tuple[int, int] | None = None  # a round, and the report it waits for

    def refresh(self, db: Database, now_ms: int) -> bool:
        """Make the model again where it is due; return whether it was made.

        A call while it is made waits for it. Raises BusyError; where that was the trainer's, none
        is made for the next ten minutes.
        """
        with self._turn:
            with db.read() as tx:
                news = _news(tx)
                if news is None or not self._is_due(news, now_ms):
                    return False
                training_data = _training_data(tx)
            try:
                result = self._trainer(training_data)
            except Exception:
                self._failed_ms = now_ms
                raise
            made = result is not None and _enter(db, news, training_data, result, now_ms)
            self._looked = news.report
            return made

    def is_trained(self, db: Database, now_ms: int) -> bool:
        """Return whether a round may be planned now.

        It may when all reports that had come when its last probe was done are learned, or nothing
        can be learned now; so neither later reports nor failures delay it for ever.
        """
        with db.read() as tx:
            news = _news(tx)
        if news is None or self._failed_lately(now_ms):
            self._awaited = None
            return True
        if news.round is None:
            self._awaited = None  # for a probe that was ordered since, too
            return False
        if self._awaited is None or self._awaited[0] != news.round:
            self._awaited = (news.round, news.report)
        if max(news.known, self._looked) < self._awaited[1]:
            return False
        self._awaited = None
        return True

    def _is_due(self, news: _News, now_ms: int) -> bool:
        if news.report == self._looked or self._failed_lately(now_ms):
            return False
        is_young = news.made_ms is not None and 0 <= now_ms - news.made_ms < AGE_MS
        return news.round is not None or not is_young

    def _failed_lately(self, now_ms: int) -> bool:
        return self._failed_ms is not None and 0 <= now_ms - self._failed_ms < AGE_MS


def is_trained_here(db: Database, now_ms: int) -> bool:
    """Make the model where it is due, in this thread, so that all reports are learned."""
    ModelTraining().refresh(db, now_ms)
    return True


def _news(tx: Transaction) -> _News | None:
    """Return the reports since the model was made; None: there are none."""
    age = predictions.model_age(tx)
    known = 0 if age is None else age.report_id
    newest = predictions.newest_report(tx)
    if newest == known:
        return None
    current = rounds.open_round(tx)
    plans_next = (
        current is not None
        and current.state == "probing"
        and (not probes.any_open(tx, current.number) or _plans_more_probes(tx, current))
    )
    return _News(
        newest,
        known,
        None if age is None else age.made_ms,
        current.number if current is not None and plans_next else None,
    )


def _plans_more_probes(tx: Transaction, current: RoundRow) -> bool:
    """Return whether the next step may be ordered while the last probes of one are open."""
    return current.verified_ms is None and probe_progress.is_nearly_done(
        tx, current.number, current.probe_steps
    )


def _training_data(tx: Transaction) -> TrainingData:
    ids = tuple(row.id for row in agents.all_agents(tx) if row.takes_part)
    found = predictions.training_probes(tx, ids, PROBES_MOST)
    row_of = {agent: row for row, agent in enumerate(ids)}
    units, column = np.unique(
        np.array([unit for unit, _, _ in found], dtype=np.int64), return_inverse=True
    )
    measured = Probes(
        agent=np.array([row_of[agent] for _, agent, _ in found], dtype=np.intp),
        unit=column.astype(np.intp),
        ms_per_kb=np.array([distance for _, _, distance in found], dtype=np.float64),
    )
    return TrainingData(ids, measured, len(units))


def _enter(
    db: Database, news: _News, training_data: TrainingData, result: TrainingResult, now_ms: int
) -> bool:
    """Store the model, unless one of newer reports is stored; return whether it was stored."""
    numbers = json.dumps({str(agent): row for agent, row in result.agents.items()})
    row = ModelRow(now_ms, news.report, len(training_data.probes.agent), result.noise, numbers)
    with db.write() as tx:
        age = predictions.model_age(tx)
        if age is not None and age.report_id > news.report:
            return False
        predictions.set_model(tx, row)
    return True


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
