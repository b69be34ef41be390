"""Changes since a plan was made: those that stop it, and those it did not know.

Invariant: a plan is stale where what it moves belongs to somebody else by now, where who was to get
it takes no part any more, or where people have decided otherwise since. All else that changed is
said, with its number, and stops nothing: the plan is still what it was seen to be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from manager.db import group_lookup
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import hosts, pieces
from manager.db.ownership import assignments
from manager.db.planning import plan_changes, plans
from manager.db.planning.plan_changes import COUNTED_MOST
from manager.db.planning.plans import PlanRow
from manager.errors import NotFoundError, StalePlanError
from manager.operations.ownership.pin_rules import load_standing
from manager.operations.ownership.reassignment import members
from shared.frozen import frozen

__all__ = ["Change", "ChangeKind", "changes_since", "plan_obstacles", "require_fresh"]

CHANGES_SAID: Final = 5

ChangeKind = Literal[
    "agents-gone",
    "units-excluded",
    "units-elsewhere",
    "units-pinned",
    "units-barred",
    "plans-applied",
    "owners-changed",
    "hosts-added",
    "agents-joined",
]
_MISSED: Final[Mapping[ChangeKind, str]] = {
    "plans-applied": "other plans were applied",
    "owners-changed": "units got another owner",
    "hosts-added": "hosts were added",
    "agents-joined": "agents joined",
}


@frozen
class Change:
    """One kind of change since a plan was made. number: how often.

    stops: the plan cannot be carried out because of it. examples: sentences, at most five, of those
    that stop it; names of plans or agents else. is_cut: there are that many or more.
    """

    kind: ChangeKind
    number: int
    stops: bool
    examples: tuple[str, ...] = ()
    is_cut: bool = False


def changes_since(db: Database, plan_id: int) -> list[Change]:
    """Return what changed since a plan was made, what stops it first; of an applied one nothing.

    Raises NotFoundError.
    """
    with db.read() as tx:
        plan = plans.by_id(tx, plan_id)
        if plan is None:
            raise NotFoundError(f"plan {plan_id}: there is none", see="plans")
        if plan.applied_ms is not None:
            return []
        taking = {row.id: row for row in members(tx)}
        return [
            *plan_obstacles(tx, plans.moves_of(tx, plan_id), taking),
            *_missed(tx, plan, taking),
        ]


def require_fresh(
    tx: Transaction,
    plan: PlanRow,
    moves: Sequence[tuple[int, int | None, int]],
    taking: Mapping[int, AgentRow],
) -> None:
    """Refuse a plan that does not fit any more, and say what changed since it was made.

    moves: (unit, giver, taker). taking: the agents that take part. Raises StalePlanError.
    """
    changes = plan_obstacles(tx, moves, taking)
    if not changes:
        return
    examples = [said for change in changes for said in change.examples][:CHANGES_SAID]
    left = sum(change.number for change in changes) - len(examples)
    more = f", and {left} more" if left > 0 else ""
    missed = ", ".join(
        f"{change.number}{' or more' if change.is_cut else ''} {_MISSED[change.kind]}"
        for change in _missed(tx, plan, taking)
    )
    besides = f" (since it was made: {missed})" if missed else ""
    raise StalePlanError(
        f"plan {plan.id} is stale: {', '.join(examples)}{more}{besides}; make a new plan"
    )


def plan_obstacles(
    tx: Transaction,
    moves: Sequence[tuple[int, int | None, int]],
    taking: Mapping[int, AgentRow],
) -> list[Change]:
    """Return what keeps moves (unit, giver, taker) from being carried out."""
    names = agents.names(tx)
    gone = [
        f"agent {names[taker]} takes no part any more"
        for taker in dict.fromkeys(taker for _, _, taker in moves)
        if taker not in taking
    ]
    excluded, wrong = _changed_units(tx, moves, taking, names)
    found: list[tuple[ChangeKind, list[str]]] = [
        ("agents-gone", gone),
        ("units-excluded", excluded),
        *wrong.items(),
    ]
    return [
        Change(kind, len(said), stops=True, examples=tuple(said[:CHANGES_SAID]))
        for kind, said in found
        if said
    ]


def _changed_units(
    tx: Transaction,
    moves: Sequence[tuple[int, int | None, int]],
    taking: Mapping[int, AgentRow],
    names: Mapping[int, str],
) -> tuple[list[str], dict[ChangeKind, list[str]]]:
    """Return sentences of units that were excluded, and of those that are or go elsewhere."""
    units = [unit for unit, _, _ in moves]
    present = assignments.owners_of(tx, units)
    groups = group_lookup.groups_of_units(tx, units)
    atoms = group_lookup.atoms_of_units(tx, units)
    excluded = set(hosts.excluded_among(tx, units))
    plain = {agent.id for agent in taking.values() if agent.is_plain}
    whole = [unit for unit, _, taker in moves if taker in plain]
    in_pieces = pieces.for_sync_agents(tx, whole)
    decided = load_standing(tx, units)
    wrong: dict[int, tuple[ChangeKind, str]] = {}
    for unit, giver, taker in moves:
        group, atom = groups[unit] or 0, atoms[unit] or 0
        holder = present.get(unit)
        # A giver that took no part was nobody to the plan.
        if holder != giver and not (giver is None and holder not in taking):
            belongs = "belongs to nobody by now"
            if holder is not None:
                belongs = f"belongs to {names[holder]} by now"
            wrong[unit] = "units-elsewhere", belongs
        elif decided.of_atom.get(atom, taker) != taker:
            wrong[unit] = "units-pinned", f"was pinned to {names[decided.of_atom[atom]]}"
        elif atom not in decided.of_atom and taker in decided.banned.get(group, ()):
            wrong[unit] = "units-barred", f"never goes to {names[taker]} any more"
        elif taker in plain and unit in in_pieces:
            wrong[unit] = "units-barred", f"was split, and {names[taker]} gets whole hosts only"
    keys = {row.id: row.key for row in hosts.units_by_id(tx, units)} if wrong or excluded else {}
    found: dict[ChangeKind, list[str]] = {}
    for unit, (kind, why) in wrong.items():
        if keys[unit] not in excluded:
            found.setdefault(kind, []).append(f"{keys[unit]} {why}")
    return [f"{key} was excluded" for key in sorted(excluded)], found


def _missed(tx: Transaction, plan: PlanRow, taking: Mapping[int, AgentRow]) -> list[Change]:
    """Return what the plan could not know of, and can be carried out beside."""
    known = {one["name"] for one in json.loads(plan.detail)["agents"]}
    joined = sorted(row.name for row in taking.values() if row.name not in known)
    applied = plan_changes.applied_since(tx, plan.made_ms, plan.id)
    owners = plan_changes.owners_since(tx, plan.made_ms)
    added = plan_changes.hosts_since(tx, plan.made_ms)
    found = (
        Change("plans-applied", len(applied), False, tuple(map(str, applied[-CHANGES_SAID:]))),
        Change("owners-changed", owners, False, is_cut=owners >= COUNTED_MOST),
        Change("hosts-added", added, False, is_cut=added >= COUNTED_MOST),
        Change("agents-joined", len(joined), False, tuple(joined[:CHANGES_SAID])),
    )
    return [change for change in found if change.number]
