"""The prediction model, one row, and the probes that it is trained on."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

from manager.db.tables import agents, distance_model, distances, reports
from manager.db.transaction import Transaction
from shared.frozen import frozen, values_of

__all__ = [
    "ModelAge",
    "ModelRow",
    "forget_model",
    "model_age",
    "newest_report",
    "set_model",
    "stored_model",
    "training_probes",
]


@frozen
class ModelRow:
    """agents: JSON, agent number to its level and its loadings. probes: it was made from so many.

    report_id: the newest report that it knows of.
    """

    made_ms: int
    report_id: int
    probes: int
    noise: float
    agents: str


@frozen
class ModelAge:
    """Time of training of the model, and its last report."""

    made_ms: int
    report_id: int


_MODEL_AGE: Final = sa.select(distance_model.c.made_ms, distance_model.c.report_id)
_NEWEST_REPORT: Final = sa.select(sa.func.coalesce(sa.func.max(reports.c.id), 0))


def model_age(tx: Transaction) -> ModelAge | None:
    """Return how old the newest model is."""
    return tx.row(ModelAge, _MODEL_AGE)


def stored_model(tx: Transaction) -> ModelRow | None:
    """Return the newest model."""
    return tx.row(ModelRow, sa.select(distance_model))


def set_model(tx: Transaction, row: ModelRow) -> None:
    """Keep a model in the place of the one before."""
    tx.upsert(distance_model, [{"id": 1, **values_of(row)}], ["id"])


def forget_model(tx: Transaction) -> None:
    """Forget the model, as what it was learned from counts no more."""
    tx.execute(distance_model.delete())


def newest_report(tx: Transaction) -> int:
    """Return the number of the newest report; 0 before the first."""
    return int(tx.value(_NEWEST_REPORT))


def training_probes(
    tx: Transaction, agent_ids: Collection[int], most: int
) -> list[tuple[int, int, float]]:
    """Return (unit, agent, ms per KByte) of the units that most agents measured, about `most`.

    Of units that equally many measured, any: they are mixed by number, the same each time. Of the
    last one all are returned.
    """
    others = set(tx.values(sa.select(agents.c.id))) - set(agent_ids)
    # The others are few: with a list of all that are wanted, SQLite looks each of them up.
    known = (distances.c.ms_per_kb.is_not(None), distances.c.agent_id.not_in(sorted(others)))
    measured = sa.func.count().label("measured")
    counted = tx.execute(
        sa.select(distances.c.unit_id, measured)
        .where(*known)
        .group_by(distances.c.unit_id)
        .order_by(
            measured.desc(), distances.c.unit_id * 2_654_435_761 % 1_000_003,
            distances.c.unit_id,
        )
        .limit(most)
    )  # fmt: skip
    units: list[int] = []
    total = 0
    for row in counted:
        units.append(row.unit_id)
        total += row.measured
        if total >= most:
            break
    counted.close()
    c = distances.c
    query = sa.select(c.unit_id, c.agent_id, c.ms_per_kb).where(*known)
    rows = tx.among(query.order_by(c.unit_id, c.agent_id), c.unit_id, units)
    return list(map(tuple, rows))
