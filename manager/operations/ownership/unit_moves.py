"""Moves of a unit to another agent now, without a pin: the next plan may move it again.

Invariant: what moves goes to where a plan could put it: its agent takes part, may have it, and no
pin says otherwise. What must have one owner with it moves with it. Rights follow as for every
other change of owners (`reassignment`).
"""

from __future__ import annotations

from typing import Final

from manager.db import group_lookup
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.hosts import hosts
from manager.db.ownership import assignments
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.ownership.pin_rules import absence_reason, load_standing
from manager.operations.ownership.pins import agent_of, pin_obstacle, remedy
from manager.operations.ownership.reassignment import assign_units
from shared.messages import Message
from shared.units import unit_key
from shared.wire.server_list import complete_line

__all__ = ["move_unit"]

BY_HAND: Final = Message("ownership.moved_by_hand")


def move_unit(db: Database, text: str, agent: str, reason: str, actor: Actor, now_ms: int) -> int:
    """Give a unit and what shares its address to an agent now; return how many units moved.

    text: a host, or a directory that is a separate unit. 0: the agent owns it already. Raises
    NotFoundError, UrlError, ConflictError (the unit has no owner yet, it is excluded or pinned to
    another agent; the agent is away, is banned from the address or cannot have a directory).
    """
    key = unit_key(complete_line(text))
    with db.write() as tx:
        row = agent_of(tx, agent)
        absent = absence_reason(row)
        if absent is not None:
            raise ConflictError("ownership.move_to_absent", why=absent).about("agent")
        unit_id = hosts.ids_of_units(tx, [key]).get(key)
        if unit_id is None:
            raise NotFoundError("ownership.unknown_unit", unit=key, remedy=remedy(key))
        (unit,) = hosts.units_by_id(tx, [unit_id])
        atom = group_lookup.atoms_of_units(tx, [unit_id])[unit_id]
        group = group_lookup.groups_of_units(tx, [unit_id])[unit_id]
        standing = load_standing(tx, [unit_id])
        banned = standing.banned.get(group, set()) if group is not None else set()
        problem = pin_obstacle(key, unit, row, atom, banned)
        pinned = standing.of_atom.get(atom) if atom is not None else standing.owner.get(unit_id)
        if problem is None and pinned is not None and pinned != row.id:
            owner = agents.names(tx)[pinned]
            problem = Message("ownership.move_of_pinned", unit=key, agent=owner)
        if problem is not None:
            raise ConflictError(problem).about("agent")
        owners = _owners(tx, unit_id, atom)
        if not owners:
            raise ConflictError("ownership.no_owner_yet", unit=key)
        if row.is_plain and any(one.path != "/" for one in hosts.units_by_id(tx, list(owners))):
            raise ConflictError(
                "ownership.directories_to_plain_agent", agent=row.name, unit=key
            ).about("agent")
        giving = {unit: row.id for unit, owner in owners.items() if owner != row.id}
        moved = assign_units(tx, giving, now_ms, BY_HAND) if giving else 0
        note(tx, now_ms, actor, "unit.move", key, agent=agent, reason=reason, moved=moved)
    return moved


def _owners(tx: Transaction, unit_id: int, atom: int | None) -> dict[int, int]:
    """Return who owns a unit, and what must have one owner with it."""
    if atom is None:
        return assignments.owners_of(tx, [unit_id])
    return {unit: owner for _, unit, owner in assignments.owners_of_atoms(tx, [atom])}
