"""Changes since a plan was made: those that stop it, and those it did not know.

Invariant: a plan is stale where a unit that it moves has another owner now, where the receiving
agent no longer takes part, or where people have decided otherwise since. All other changes are
listed, with their number, and stop nothing: the plan is still the one that the person saw.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
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
from manager.errors import StalePlanError
from manager.message_fields import message_fields
from manager.operations.ownership.pin_rules import load_standing
from manager.operations.ownership.reassignment import members
from manager.operations.planning.plan_facts import plan_of
from shared.frozen import frozen
from shared.messages import Message

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
    "plans-applied": "planning.plans_applied",
    "owners-changed": "planning.owners_changed",
    "hosts-added": "planning.hosts_added",
    "agents-joined": "planning.agents_joined",
}


@message_fields
@frozen
class Change:
    """One kind of change since a plan was made. number: how often.

    stops: the plan cannot be carried out because of it. examples: at most five, of those
    that stop it; names of plans or agents else. is_cut: there are that many or more.
    """

    kind: ChangeKind
    number: int
    stops: bool
    examples: tuple[Message, ...] = ()
    is_cut: bool = False


def changes_since(db: Database, plan_id: int) -> list[Change]:
    """Return what changed since a plan was made, what stops it first; of an applied one nothing.

    Raises NotFoundError.
    """
    with db.read() as tx:
        plan = plan_of(tx, plan_id)
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
    """Refuse a stale plan, and name the changes since it was made.

    moves: (unit, giver, taker). taking: the agents that take part. Raises StalePlanError.
    """
    changes = plan_obstacles(tx, moves, taking)
    if not changes:
        return
    examples = [said for change in changes for said in change.examples][:CHANGES_SAID]
    left = sum(change.number for change in changes) - len(examples)
    if left > 0:
        examples.append(Message("general.and_more", number=left))
    missed = [_missed_message(change) for change in _missed(tx, plan, taking)]
    raise StalePlanError(
        "planning.stale",
        plan=plan.id,
        changes=examples,
        remedy=(
            Message("planning.also_changed", changes=missed) if missed else None,
            Message("planning.make_new_plan"),
        ),
    )


def _missed_message(change: Change) -> Message:
    code = "planning.at_least" if change.is_cut else "planning.count"
    return Message(_MISSED[change.kind], number=Message(code, number=change.number))


def plan_obstacles(
    tx: Transaction,
    moves: Sequence[tuple[int, int | None, int]],
    taking: Mapping[int, AgentRow],
) -> list[Change]:
    """Return what keeps moves (unit, giver, taker) from being carried out."""
    names = agents.names(tx)
    gone = [
        Message("planning.agent_gone", agent=names[taker])
        for taker in dict.fromkeys(taker for _, _, taker in moves)
        if taker not in taking
    ]
    excluded, wrong = _changed_units(tx, moves, taking, names)
    found: list[tuple[ChangeKind, list[Message]]] = [
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
) -> tuple[list[Message], dict[ChangeKind, list[Message]]]:
    """Return the units that were excluded, and those that are or go elsewhere."""
    units = [unit for unit, _, _ in moves]
    present = assignments.owners_of(tx, units)
    groups = group_lookup.groups_of_units(tx, units)
    atoms = group_lookup.atoms_of_units(tx, units)
    excluded = set(hosts.excluded_among(tx, units))
    plain = {agent.id for agent in taking.values() if agent.is_plain}
    whole = [unit for unit, _, taker in moves if taker in plain]
    in_pieces = pieces.for_sync_agents(tx, whole)
    decided = load_standing(tx, units)
    wrong: dict[int, tuple[ChangeKind, str, str]] = {}
    for unit, giver, taker in moves:
        group, atom = groups[unit] or 0, atoms[unit] or 0
        holder = present.get(unit)
        # The plan treated a giver that took no part as no owner.
        if holder != giver and not (giver is None and holder not in taking):
            if holder is None:
                wrong[unit] = "units-elsewhere", "planning.unit_unowned", ""
            else:
                wrong[unit] = "units-elsewhere", "planning.unit_moved", names[holder]
        elif decided.of_atom.get(atom, taker) != taker:
            wrong[unit] = "units-pinned", "planning.unit_pinned", names[decided.of_atom[atom]]
        elif atom not in decided.of_atom and taker in decided.banned.get(group, ()):
            wrong[unit] = "units-barred", "planning.unit_banned", names[taker]
        elif taker in plain and unit in in_pieces:
            wrong[unit] = "units-barred", "planning.unit_split", names[taker]
    keys = {row.id: row.key for row in hosts.units_by_id(tx, units)} if wrong or excluded else {}
    found: dict[ChangeKind, list[Message]] = {}
    for unit, (kind, code, agent) in wrong.items():
        if keys[unit] not in excluded:
            found.setdefault(kind, []).append(Message(code, unit=keys[unit], agent=agent))
    return [Message("planning.unit_excluded", unit=key) for key in sorted(excluded)], found


def _missed(tx: Transaction, plan: PlanRow, taking: Mapping[int, AgentRow]) -> list[Change]:
    """Return what the plan could not know of, and can be carried out beside."""
    known = {one["name"] for one in json.loads(plan.detail)["agents"]}
    joined = sorted(row.name for row in taking.values() if row.name not in known)
    applied = plan_changes.applied_since(tx, plan.made_ms, plan.id)
    owners = plan_changes.owners_since(tx, plan.made_ms)
    added = plan_changes.hosts_since(tx, plan.made_ms)
    found = (
        Change("plans-applied", len(applied), False, _names(map(str, applied[-CHANGES_SAID:]))),
        Change("owners-changed", owners, False, is_cut=owners >= COUNTED_MOST),
        Change("hosts-added", added, False, is_cut=added >= COUNTED_MOST),
        Change("agents-joined", len(joined), False, _names(joined[:CHANGES_SAID])),
    )
    return [change for change in found if change.number]


def _names(names: Iterable[str]) -> tuple[Message, ...]:
    return tuple(map(Message.of_text, names))
