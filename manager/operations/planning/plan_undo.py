"""Preview of taking a plan back: which units go back to whom, and what keeps that from being done.

It writes nothing. `applying.undo_plan` looks again when it acts, and finds what changed meanwhile.
"""

from __future__ import annotations

from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.planning import plans
from manager.db.planning.plans import MoveRow, PlanHead
from manager.operations.ownership.reassignment import members
from manager.operations.planning.plan_changes import Change, plan_obstacles
from manager.operations.planning.plan_moves import Move, named
from shared.frozen import frozen

__all__ = ["MOVES_SHOWN", "UndoPreview", "moves_back", "undo_preview"]

MOVES_SHOWN: Final = 50


@frozen
class UndoPreview:
    """plan: what is taken back. moves: at most `MOVES_SHOWN` of `moving`, to whom units go back.

    staying: units that it gave their first owner; they stay. changes: what stops it; empty: nothing
    does.
    """

    plan: PlanHead
    moves: list[Move]
    moving: int
    staying: int
    changes: list[Change]


def undo_preview(db: Database) -> UndoPreview | None:
    """Return what taking back the last applied plan would do; None: no plan is to be taken back."""
    with db.read() as tx:
        last = plans.last_effective(tx)
        if last is None:
            return None
        everything = plans.all_moves(tx, last.id)
        back = moves_back(everything)
        return UndoPreview(
            last,
            named(back[:MOVES_SHOWN], agents.names(tx)),
            len(back),
            len(everything) - len(back),
            _changes(tx, back),
        )


def moves_back(rows: list[MoveRow]) -> list[MoveRow]:
    """Return the moves that give units back; units without an owner before are left out."""
    return [
        MoveRow(
            unit_id=row.unit_id,
            unit=row.unit,
            from_agent=row.to_agent,
            to_agent=row.from_agent,
            from_ms=row.to_ms,
            to_ms=row.from_ms,
        )
        for row in rows
        if row.from_agent is not None
    ]


def _changes(tx: Transaction, back: list[MoveRow]) -> list[Change]:
    moves = [(row.unit_id, row.from_agent, row.to_agent) for row in back]
    return plan_obstacles(tx, moves, {row.id: row for row in members(tx)})
