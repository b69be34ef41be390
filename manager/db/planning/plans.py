"""Plans: the proposals, and whether they were applied."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

import sqlalchemy as sa

from manager.db.tables import plan_moves, plans, units
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "MoveRow",
    "PlanHead",
    "PlanRow",
    "add",
    "all_moves",
    "by_id",
    "count_moves",
    "head_by_id",
    "last_effective",
    "moved_units",
    "moves_of",
    "moves_of_units",
    "moves_page",
    "newest",
    "set_applied",
    "undone_by",
]


@frozen
class PlanHead:
    """A plan without what it says of each agent. undoes: the plan that it gives back."""

    id: int
    round: int
    method: str
    seed: int
    made_by: str
    made_ms: int
    applied_ms: int | None
    units: int
    moves: int
    before_ms: float | None
    makespan_ms: float | None
    bound_ms: float | None
    undoes: int | None


@frozen
class PlanRow(PlanHead):
    """A plan. detail: JSON of `operations.planning.plans`; with many agents it is long."""

    detail: str


_HEAD: Final = [plans.c[field.name] for field in fields(PlanHead)]


@frozen
class MoveRow:
    """One unit that changes hands. from_ms: what the giver no longer spends."""

    unit_id: int
    unit: str
    from_agent: int | None
    to_agent: int
    from_ms: float | None
    to_ms: float | None


def add(tx: Transaction, values: dict[str, Any], moves: Sequence[dict[str, Any]]) -> int:
    """Keep a plan with its moves; return its number."""
    plan_id = tx.add(plans, **values)
    tx.insert(plan_moves, [{"plan_id": plan_id, **move} for move in moves])
    return plan_id


def by_id(tx: Transaction, plan_id: int) -> PlanRow | None:
    """Return a plan."""
    return tx.row(PlanRow, sa.select(plans).where(plans.c.id == plan_id))


def head_by_id(tx: Transaction, plan_id: int) -> PlanHead | None:
    """Return a plan without what it says of each agent."""
    return tx.row(PlanHead, sa.select(*_HEAD).where(plans.c.id == plan_id))


def newest(tx: Transaction, limit: int, *, applied: bool = False) -> list[PlanHead]:
    """Return plans, newest first. applied: only those that were carried out."""
    query = sa.select(*_HEAD).order_by(plans.c.id.desc()).limit(limit)
    if applied:
        query = query.where(plans.c.applied_ms.is_not(None))
    return tx.rows(PlanHead, query)


def set_applied(tx: Transaction, plan_id: int, now_ms: int) -> None:
    """Note that a plan was carried out."""
    tx.execute(plans.update().where(plans.c.id == plan_id).values(applied_ms=now_ms))


def last_effective(tx: Transaction) -> PlanHead | None:
    """Return the plan that was applied last, of those that take nothing back and still stand."""
    undone = sa.select(plans.c.undoes).where(plans.c.undoes.is_not(None))
    return tx.row(
        PlanHead,
        sa.select(*_HEAD)
        .where(plans.c.applied_ms.is_not(None), plans.c.undoes.is_(None), plans.c.id.not_in(undone))
        .order_by(plans.c.applied_ms.desc(), plans.c.id.desc())
        .limit(1),
    )


def undone_by(tx: Transaction, plan_id: int) -> int | None:
    """Return the plan that took another one back, or None."""
    number: int | None = tx.value(sa.select(plans.c.id).where(plans.c.undoes == plan_id))
    return number


def moves_of(tx: Transaction, plan_id: int) -> list[tuple[int, int | None, int]]:
    """Return (unit, from agent, to agent) of all moves of a plan."""
    c = plan_moves.c
    query = sa.select(c.unit_id, c.from_agent, c.to_agent)
    return tx.tuples(query.where(c.plan_id == plan_id))


def moves_page(
    tx: Transaction, plan_id: int, limit: int, offset: int, agent: int | None = None
) -> list[MoveRow]:
    """Return moves of a plan, those that save most first; agent: only what it gives or takes."""
    ordered = _ordered(plan_id, agent).limit(limit).offset(offset)
    return moves_of_units(tx, plan_id, tx.values(ordered))


def moves_of_units(tx: Transaction, plan_id: int, unit_ids: Sequence[int]) -> list[MoveRow]:
    """Return the moves of some units, in the order of these."""
    rows = tx.rows_among(MoveRow, _moves(plan_id), plan_moves.c.unit_id, unit_ids)
    found = {row.unit_id: row for row in rows}
    return [found[unit] for unit in unit_ids if unit in found]


def moved_units(tx: Transaction, plan_id: int, agent: int | None = None) -> array[int]:
    """Return the units that a plan moves, in the order of `moves_page`: eight bytes each."""
    query = _ordered(plan_id, agent).execution_options(yield_per=10_000)
    return array("q", tx.execute(query).scalars())


def count_moves(tx: Transaction, plan_id: int, agent: int) -> int:
    """Return how many units an agent gives or takes by a plan; all of its moves are looked at."""
    return tx.count(plan_moves, *_with_agent(plan_id, agent))


def all_moves(tx: Transaction, plan_id: int) -> list[MoveRow]:
    """Return all moves of a plan, by unit."""
    return tx.rows(MoveRow, _moves(plan_id).order_by(plan_moves.c.unit_id))


def _ordered(plan_id: int, agent: int | None) -> sa.Select[Any]:
    """Return how units are found, those whose move saves most first: one scan, nothing joined."""
    gain = sa.func.coalesce(plan_moves.c.from_ms, 0) - sa.func.coalesce(plan_moves.c.to_ms, 0)
    return (
        sa.select(plan_moves.c.unit_id)
        .where(*_with_agent(plan_id, agent))
        .order_by(gain.desc(), plan_moves.c.unit_id)
    )


def _with_agent(plan_id: int, agent: int | None) -> list[sa.ColumnElement[bool]]:
    of_plan = [plan_moves.c.plan_id == plan_id]
    if agent is not None:
        of_plan.append(sa.or_(plan_moves.c.from_agent == agent, plan_moves.c.to_agent == agent))
    return of_plan


def _moves(plan_id: int) -> sa.Select[Any]:
    return (
        sa.select(
            plan_moves.c.unit_id,
            units.c.key.label("unit"),
            plan_moves.c.from_agent,
            plan_moves.c.to_agent,
            plan_moves.c.from_ms,
            plan_moves.c.to_ms,
        )
        .join(units, units.c.id == plan_moves.c.unit_id)
        .where(plan_moves.c.plan_id == plan_id)
    )
