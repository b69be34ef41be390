"""The moves of a plan, of which there may be a million: all, or those of one agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.planning import plans
from manager.db.planning.plans import MoveRow, PlanRow
from manager.operations.ownership.pins import agent_of
from manager.operations.planning.plan_facts import plan_of
from shared.frozen import frozen

__all__ = ["Move", "every_move", "move_page", "named"]

PAGE_MOST: Final = 1000
MOVES_AT_ONCE: Final = 1000


@frozen
class Move:
    """One unit that changes hands; agents by name, costs in ms."""

    unit: str
    giver: str | None
    taker: str
    giver_ms: float | None
    taker_ms: float | None


def move_page(
    tx: Transaction, plan: PlanRow, agent: str, limit: int, offset: int
) -> tuple[int, list[Move]]:
    """Return how many moves of a plan match, and a page of them, those that save most first.

    agent: what it gives or takes; empty: all. Raises NotFoundError for a name that is no agent's.
    """
    number = agent_of(tx, agent).id if agent else None
    moving = plan.moves if number is None else plans.count_moves(tx, plan.id, number)
    limit, offset = max(1, min(limit, PAGE_MOST)), max(0, offset)
    page = plans.moves_page(tx, plan.id, limit, offset, number)
    return moving, named(page, agents.names(tx))


def every_move(db: Database, plan_id: int, *, agent: str = "") -> Iterator[Move]:
    """Yield all moves of a plan that match, as `move_page` has them.

    They are put in order once and their numbers held, so a reader may be slow. Raises
    NotFoundError, before the first.
    """
    with db.read() as tx:
        plan_of(tx, plan_id)
        number = agent_of(tx, agent).id if agent else None
        unit_ids = plans.moved_units(tx, plan_id, number)
        names = agents.names(tx)
    return _every_move(db, plan_id, unit_ids, names)


def _every_move(
    db: Database, plan_id: int, unit_ids: Sequence[int], names: dict[int, str]
) -> Iterator[Move]:
    for at in range(0, len(unit_ids), MOVES_AT_ONCE):
        with db.read() as tx:
            rows = plans.moves_of_units(tx, plan_id, unit_ids[at : at + MOVES_AT_ONCE])
        yield from named(rows, names)


def named(page: Sequence[MoveRow], names: dict[int, str]) -> list[Move]:
    """Return moves with the names of their agents."""
    return [
        Move(
            unit=row.unit,
            giver=None if row.from_agent is None else names[row.from_agent],
            taker=names[row.to_agent],
            giver_ms=row.from_ms,
            taker_ms=row.to_ms,
        )
        for row in page
    ]
