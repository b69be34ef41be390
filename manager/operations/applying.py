"""Carry plans out, and take the last one back.

Invariants: a plan is applied as a whole or not at all. It is stale where what it moves belongs to
somebody else by now, where who was to get it takes no part any more, or where people have decided
otherwise since; then the refusal says what changed. Taking back is a plan of its own: history is
only added to.
"""

from __future__ import annotations

import json
from typing import Final

from manager.db import agents, assignments, hosts, plans, rounds
from manager.db.agents import AgentRow
from manager.db.engine import Database, Transaction
from manager.db.plans import PlanRow
from manager.errors import ConflictError, NotFoundError, StalePlanError
from manager.operations.actor import Actor, note
from manager.operations.addresses import keep_whole
from manager.operations.giving import give_units, members
from manager.operations.pin_rules import load_standing

__all__ = ["apply_moves", "apply_plan", "undo_plan", "undoable"]

CHANGES_SAID: Final = 5
UNDO: Final = "undo"


def apply_plan(db: Database, plan_id: int, actor: Actor, now_ms: int) -> int:
    """Carry a plan out and return how many units changed hands.

    Applying again changes nothing. Raises NotFoundError, StalePlanError.
    """
    with db.write() as tx:
        plan = plans.by_id(tx, plan_id)
        if plan is None:
            raise NotFoundError(f"plan {plan_id}: there is none; see `prsm plans`")
        if plan.applied_ms is not None:
            return 0
        moved = apply_moves(tx, plan, now_ms)
        note(tx, now_ms, actor, "plan.apply", str(plan_id), moved=moved)
    return moved


def apply_moves(tx: Transaction, plan: PlanRow, now_ms: int) -> int:
    """Give units to whom a plan gives them; raises StalePlanError and changes nothing."""
    moves = plans.moves_of(tx, plan.id)
    taking = {row.id: row for row in members(tx)}
    _require_fresh(tx, plan, moves, taking)
    owners = {unit: taker for unit, _, taker in moves}
    current = rounds.open_round(tx)
    if current is not None and current.state == "crawling":
        # What was found in this round and is only being probed takes part from now on.
        rounds.enter(tx, current.number, owners)
    moved = give_units(tx, owners, now_ms, f"plan {plan.id}: {plan.method}", plan.id)
    # Names may have turned out to share an address since the plan was made.
    keep_whole(tx, assignments.split_groups(tx), now_ms)
    by_name = {row.name: row.id for row in taking.values()}
    for agent in json.loads(plan.detail)["agents"]:
        if agent["name"] in by_name:
            agents.update(tx, by_name[agent["name"]], load_ms=agent["after_ms"])
    plans.set_applied(tx, plan.id, now_ms)
    return moved


def _require_fresh(
    tx: Transaction,
    plan: PlanRow,
    moves: list[tuple[int, int | None, int]],
    taking: dict[int, AgentRow],
) -> None:
    """Refuse a plan that does not fit any more, and say what changed since it was made."""
    names = agents.names(tx)
    changes = [
        f"agent {names[taker]} takes no part any more"
        for taker in dict.fromkeys(taker for _, _, taker in moves)
        if taker not in taking
    ]
    changes += _changed_units(tx, moves, taking, names)
    if not changes:
        return
    said = ", ".join(changes[:CHANGES_SAID])
    more = f", and {len(changes) - CHANGES_SAID} more" if len(changes) > CHANGES_SAID else ""
    raise StalePlanError(f"plan {plan.id} is stale: {said}{more}; make a new plan")


def _changed_units(
    tx: Transaction,
    moves: list[tuple[int, int | None, int]],
    taking: dict[int, AgentRow],
    names: dict[int, str],
) -> list[str]:
    units = [unit for unit, _, _ in moves]
    present = assignments.owners_of(tx, units)
    groups = hosts.groups_of_units(tx, units)
    atoms = hosts.atoms_of_units(tx, units)
    excluded = set(hosts.excluded_among(tx, units))
    decided = load_standing(tx, units)
    wrong: dict[int, str] = {}
    for unit, giver, taker in moves:
        group, atom = groups[unit] or 0, atoms[unit] or 0
        holder = present.get(unit)
        # A giver that took no part was nobody to the plan.
        if holder != giver and not (giver is None and holder not in taking):
            wrong[unit] = f"belongs to {names[holder] if holder is not None else 'nobody'} by now"
        elif decided.of_atom.get(atom, taker) != taker:
            wrong[unit] = f"was pinned to {names[decided.of_atom[atom]]}"
        elif atom not in decided.of_atom and taker in decided.banned.get(group, ()):
            wrong[unit] = f"never goes to {names[taker]} any more"
    keys = {row.id: row.key for row in hosts.units_by_id(tx, units)} if wrong or excluded else {}
    return [f"{key} was excluded" for key in sorted(excluded)] + [
        f"{keys[unit]} {why}" for unit, why in wrong.items() if keys[unit] not in excluded
    ]


def undoable(db: Database) -> int | None:
    """Return the number of the plan that `undo_plan` would take back, or None."""
    with db.read() as tx:
        plan = plans.last_standing(tx)
        return plan.id if plan is not None else None


def undo_plan(db: Database, actor: Actor, now_ms: int) -> int:
    """Give back what the last applied plan moved; return the number of the plan that does.

    What had no owner before stays where it is. Asked again, it takes back the plan before that.
    Raises ConflictError where no plan is to be taken back, StalePlanError where its units have
    changed hands since or who gave them takes no part any more.
    """
    with db.write() as tx:
        last = plans.last_standing(tx)
        if last is None:
            raise ConflictError("no plan was applied that could be taken back; see `prsm plans`")
        back = [row for row in plans.all_moves(tx, last.id) if row.from_agent is not None]
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
                "detail": json.dumps(_turned_round(last)),
            },
            [
                {
                    "unit_id": row.unit_id,
                    "from_agent": row.to_agent,
                    "to_agent": row.from_agent,
                    "from_ms": row.to_ms,
                    "to_ms": row.from_ms,
                }
                for row in back
            ],
        )
        plan = plans.by_id(tx, number)
        assert plan is not None, "it was added a moment ago"
        moved = apply_moves(tx, plan, now_ms)
        note(tx, now_ms, actor, "plan.undo", str(last.id), plan=number, moved=moved)
    return number


def _turned_round(plan: PlanRow) -> dict[str, object]:
    """Return the detail of a plan that gives back what another moved."""
    detail = json.loads(plan.detail)
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
        for agent in detail["agents"]
    ]
    said = [f"Gives back what plan {plan.id} ({plan.method}) moved; what was new stays."]
    return {"agents": agents_then, "tree": detail["tree"], "explanation": said}
