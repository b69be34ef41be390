"""Carry plans out, and take the last one back.

Invariants: a plan is applied as a whole or not at all; a stale one (`plan_changes`) is refused with
the changes. A request that names the applied plan which its sender saw is refused where another
plan is applied now (ADR 125). Taking back is a separate plan: history is only added to.
Its preview writes nothing; `undo_plan` looks again when it acts, and finds what changed meanwhile.
"""

from __future__ import annotations

import json
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.ownership import assignments
from manager.db.planning import plans
from manager.db.planning.plans import MoveRow, PlanHead, PlanRow
from manager.db.rounds import round_units, rounds
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from manager.operations.ownership.group_owners import enforce_one_owner
from manager.operations.ownership.reassignment import assign_units, members
from manager.operations.planning.plan_changes import Change, plan_obstacles, require_fresh
from manager.operations.planning.plan_facts import (
    PlanFacts,
    TimeFacts,
    facts_of,
    plan_of,
    row_of_facts,
)
from manager.operations.planning.plan_moves import Move, named
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "MOVES_SHOWN",
    "UndoPreview",
    "apply_moves",
    "apply_plan",
    "moves_back",
    "undo_plan",
    "undo_preview",
    "undoable",
]

UNDO: Final = "undo"
MOVES_SHOWN: Final = 50


def apply_plan(
    db: Database, plan_id: int, actor: Actor, now_ms: int, *, standing: int | None = None
) -> int:
    """Carry a plan out and return how many units changed hands.

    standing: the plan that was applied last when it was decided (0: none was); None does not ask.
    Applying again changes nothing. Raises NotFoundError, StalePlanError; ConflictError where
    another plan is applied now.
    """
    with db.write() as tx:
        plan = plan_of(tx, plan_id)
        if plan.applied_ms is not None:
            return 0
        _require_standing(tx, standing)
        moved = apply_moves(tx, plan, now_ms)
        note(tx, now_ms, actor, "plan.apply", str(plan_id), moved=moved)
    return moved


def apply_moves(tx: Transaction, plan: PlanRow, now_ms: int) -> int:
    """Give units to whom a plan gives them; raises StalePlanError and changes nothing."""
    moves = plans.moves_of(tx, plan.id)
    taking = {row.id: row for row in members(tx)}
    require_fresh(tx, plan, moves, taking)
    owners = {unit: taker for unit, _, taker in moves}
    current = rounds.open_round(tx)
    if current is not None and current.state == "crawling":
        # Units found in this round that are still being probed take part from now on.
        round_units.enter(tx, current.number, owners)
    by_plan = Message("ownership.by_plan", plan=plan.id, method=plan.method)
    moved = assign_units(tx, owners, now_ms, by_plan, plan.id)
    # Names may have turned out to share an address since the plan was made.
    enforce_one_owner(tx, assignments.split_groups(tx), now_ms)
    by_name = {row.name: row.id for row in taking.values()}
    for agent in json.loads(plan.detail)["agents"]:
        if agent["name"] in by_name:
            agents.update(tx, by_name[agent["name"]], load_ms=agent["after_ms"])
    plans.set_applied(tx, plan.id, now_ms)
    return moved


def undoable(db: Database) -> int | None:
    """Return the number of the plan that `undo_plan` would take back, or None."""
    with db.read() as tx:
        plan = plans.last_effective(tx)
        return plan.id if plan is not None else None


def undo_plan(db: Database, actor: Actor, now_ms: int, *, standing: int | None = None) -> int:
    """Give back what the last applied plan moved; return the number of the plan that does.

    standing: the plan that is meant; None: whichever was applied last. Units without an owner
    before stay where they are. Asked again, it takes back the plan before that.
    Raises ConflictError where no plan is to be taken back or another one than is meant,
    StalePlanError where its units have changed hands since or their giver no longer takes part.
    """
    with db.write() as tx:
        last = plans.last_effective(tx)
        if last is None:
            raise ConflictError("planning.none_to_undo")
        _require_standing(tx, standing)
        back = moves_back(plans.all_moves(tx, last.id))
        number = plans.add(
            tx,
            {
                "round": last.round,
                "method": UNDO,
                "seed": last.seed,
                "made_by": actor.name,
                "made_ms": now_ms,
                "units": last.units,
                "moves": len(back),
                "before_ms": last.makespan_ms,
                "makespan_ms": last.before_ms,
                "bound_ms": last.bound_ms,
                "undoes": last.id,
                "detail": row_of_facts(_turned_round(tx, last)),
            },
            [
                {
                    "unit_id": row.unit_id,
                    "from_agent": row.from_agent,
                    "to_agent": row.to_agent,
                    "from_ms": row.from_ms,
                    "to_ms": row.to_ms,
                }
                for row in back
            ],
        )
        plan = plans.by_id(tx, number)
        assert plan is not None, "it was added a moment ago"
        moved = apply_moves(tx, plan, now_ms)
        note(tx, now_ms, actor, "plan.undo", str(last.id), plan=number, moved=moved)
    return number


def _require_standing(tx: Transaction, meant: int | None) -> None:
    """Refuse where another plan was applied, or taken back, since the person looked."""
    if meant is None:
        return
    last = plans.last_effective(tx)
    stands = 0 if last is None else last.id
    if stands != meant:
        raise ConflictError(
            "planning.other_plan_stands", meant=_named(meant), standing=_named(stands)
        )


def _named(number: int) -> Message:
    if not number:
        return Message("planning.no_plan")
    return Message("planning.plan_number", plan=number)


def _turned_round(tx: Transaction, last: PlanHead) -> PlanFacts:
    """Return the facts of a plan that gives back what another moved."""
    plan = plans.by_id(tx, last.id)
    assert plan is not None, "plans are never deleted"
    facts = facts_of(plan.detail)
    agents_then = [
        {
            **agent,
            "before_ms": agent["after_ms"],
            "after_ms": agent["before_ms"],
            "units_before": agent["units_after"],
            "units_after": agent["units_before"],
            "elapsed_before_ms": agent.get("elapsed_ms"),
            "elapsed_ms": agent.get("elapsed_before_ms"),
        }
        for agent in facts.agents
    ]
    said = Message("planning.given_back", plan=plan.id, method=plan.method)
    return PlanFacts(agents_then, facts.tree, (said,), [], _time_then(facts.time))


def _time_then(time: TimeFacts | None) -> TimeFacts | None:
    """Return what a plan predicted, with before and after exchanged."""
    if time is None:
        return None
    return TimeFacts(
        end_before_ms=time.end_ms,
        end_ms=time.end_before_ms,
        end_bound_ms=time.end_bound_ms,
        network_before_ms=time.network_ms,
        network_ms=time.network_before_ms,
    )


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
