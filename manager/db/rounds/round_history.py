"""Rounds beside the plans that they went by."""

from __future__ import annotations

import sqlalchemy as sa

from manager.db.tables import plans, rounds
from manager.db.transaction import Transaction, newest_first
from shared.frozen import frozen

__all__ = ["PastRound", "newest"]


@frozen
class PastRound:
    """A round in numbers: ms of the greatest agent cost, planned, at best and measured.

    moves: of its plan, of so many units. elapsed_ms: of its crawl, by the clock.
    """

    number: int
    method: str
    state: str
    started_ms: int
    planned_ms: float | None
    bound_ms: float | None
    measured_ms: int | None
    elapsed_ms: int | None
    moves: int | None
    units: int | None


def newest(tx: Transaction, limit: int, before: int | None = None) -> list[PastRound]:
    """Return rounds, newest first; before: of lesser numbers only."""
    query = sa.select(
        rounds.c.number,
        rounds.c.method,
        rounds.c.state,
        rounds.c.started_ms,
        plans.c.makespan_ms.label("planned_ms"),
        plans.c.bound_ms,
        rounds.c.makespan_ms.label("measured_ms"),
        rounds.c.elapsed_ms,
        plans.c.moves,
        plans.c.units,
    ).outerjoin(plans, plans.c.id == rounds.c.plan_id)
    return tx.rows(PastRound, newest_first(query, rounds.c.number, limit, before))
