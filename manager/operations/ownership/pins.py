"""Pins, and the operations on them: a unit belongs to one agent until a person changes that.

Invariants: a pin that cannot be applied is refused; one that becomes ineffective later is kept and
shown (`pin_rules`). A pin moves units that have an owner at once; units without an owner go to its
agent with the next plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from manager.db import group_lookup
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import hosts
from manager.db.hosts.hosts import UnitRow
from manager.db.ownership import assignments, pins
from manager.db.ownership.pins import PinRow
from manager.db.transaction import chunks
from manager.errors import ConflictError, NotFoundError
from manager.message_fields import message_fields
from manager.operations.actor import Actor, note, note_alone
from manager.operations.identity.enrolment import agent_named
from manager.operations.ownership.pin_rules import (
    EffectivePins,
    absence_reason,
    banned_by_group,
    judge,
    load_standing,
)
from manager.operations.ownership.reassignment import assign_units
from shared.errors import PrsmError, about_field
from shared.frozen import frozen
from shared.messages import Message
from shared.units import unit_key
from shared.urls import host_key
from shared.wire.server_list import complete_line

__all__ = [
    "Pin",
    "PinPage",
    "Pinned",
    "agent_of",
    "list_pins",
    "pin_keys",
    "pin_obstacle",
    "pin_unit",
    "pin_units",
    "pins_shown",
    "remedy",
    "unpin_units",
]

PAGE_MOST: Final = 1000
REFUSALS_MOST: Final = 1000


@message_fields
@frozen
class Pin:
    """A unit that is one agent's. ignored: why it does not hold now, or None."""

    unit: str
    agent: str
    reason: Message | None
    made_by: str
    made_ms: int
    ignored: Message | None


@frozen
class PinPage:
    """A page of pins. total: how many there are."""

    total: int
    pins: list[Pin]


@message_fields
@frozen
class Pinned:
    """Outcome of pins. moved: units that changed hands at once.

    refused: the first 1,000 with their reasons. warning: why the pins do not hold yet, or None.
    """

    pinned: int
    moved: int
    refused: list[tuple[str, Message]]
    refused_count: int
    warning: Message | None


def pin_unit(db: Database, text: str, agent: str, reason: str, actor: Actor, now_ms: int) -> Pinned:
    """Pin a unit to an agent: a host, or a directory that is a separate unit.

    Pinning it to another agent moves the pin. Raises NotFoundError, UrlError, ConflictError (the
    host is excluded, the agent was retired, is banned from the address or cannot have a directory,
    another pin holds the address).
    """
    with db.write() as tx:
        row = _pinnable(tx, agent)
        unit = _key(text)
        _, problems, moved = pin_keys(tx, row, [unit], _typed(reason), actor, now_ms)
        if problems:
            raise problems[0][1]
        note(tx, now_ms, actor, "unit.pin", unit, agent=agent, reason=reason, moved=moved)
    return Pinned(1, moved, [], 0, absence_reason(row))


def pin_units(
    db: Database, texts: Iterable[str], agent: str, reason: str, actor: Actor, now_ms: int
) -> Pinned:
    """Give many units to an agent; what cannot be is refused one by one and keeps no other out.

    texts: hosts or directories, any number. Raises NotFoundError, ConflictError for the agent.
    """
    with db.read() as tx:
        warning = absence_reason(_pinnable(tx, agent))
    pinned = moved = refused_count = 0
    refused: list[tuple[str, Message]] = []
    for part in chunks(texts):
        keys, problems = _keys(part)
        with db.write() as tx:
            row = _pinnable(tx, agent)
            done, conflicts, given = pin_keys(tx, row, keys, _typed(reason), actor, now_ms)
        pinned += done
        moved += given
        problems += conflicts
        refused_count += len(problems)
        room = REFUSALS_MOST - len(refused)
        refused += [(text, problem.message) for text, problem in problems[:room]]
    note_alone(
        db,
        now_ms,
        actor,
        "unit.pin-many",
        agent,
        pinned=pinned,
        moved=moved,
        refused=refused_count,
        reason=reason,
    )
    return Pinned(pinned, moved, refused, refused_count, warning)


def unpin_units(
    db: Database, texts: Collection[str], actor: Actor, now_ms: int, reason: str = ""
) -> int:
    """Forget the pins of units; who owns them keeps them until a plan moves them.

    Returns how many there were. Raises NotFoundError where one of them is no unit, UrlError.
    """
    with db.write() as tx:
        keys = [_key(text) for text in texts]
        ids = hosts.ids_of_units(tx, keys)
        for key in keys:
            if key not in ids:
                raise NotFoundError("ownership.unknown_pin", unit=key, see="hosts pins")
        forgotten = pins.unpin(tx, list(ids.values()))
        if forgotten:
            subject = keys[0] if len(keys) == 1 else ""
            note(tx, now_ms, actor, "unit.unpin", subject, units=forgotten, reason=reason)
    return forgotten


def list_pins(db: Database, *, agent: str = "", limit: int = 100, offset: int = 0) -> PinPage:
    """Return a page of pins, with why those that do not hold do not. Raises NotFoundError."""
    with db.read() as tx:
        number = agent_of(tx, agent).id if agent else None
        page = pins.pins_page(tx, number, max(1, min(limit, PAGE_MOST)), max(0, offset))
        return PinPage(pins.count_pins(tx, number), pins_shown(tx, page))


def pins_shown(tx: Transaction, rows: Collection[PinRow]) -> list[Pin]:
    """Return pins as people see them."""
    standing = load_standing(tx, [row.unit_id for row in rows]) if rows else EffectivePins()
    names = agents.names(tx) if rows else {}
    return [
        Pin(
            unit=row.unit,
            agent=names[row.agent_id],
            reason=row.reason,
            made_by=row.made_by,
            made_ms=row.made_ms,
            ignored=standing.ignored.get(row.unit_id),
        )
        for row in rows
    ]


def pin_keys(
    tx: Transaction,
    row: AgentRow,
    keys: list[str],
    reason: Message | None,
    actor: Actor,
    now_ms: int,
) -> tuple[int, list[tuple[str, PrsmError]], int]:
    """Pin units by key, those that can be, within a transaction of the caller.

    Returns how many, the refusals by key, and how many units moved at once.
    """
    ids = hosts.ids_of_units(tx, keys)
    found = {unit.id: unit for unit in hosts.units_by_id(tx, ids.values())}
    groups = group_lookup.groups_of_units(tx, ids.values())
    atoms = group_lookup.atoms_of_units(tx, ids.values())
    known = {pin.unit_id: pin for pin in pins.pins_in_groups(tx, ids.values())}
    banned = banned_by_group(
        pins.bans_of_hosts(tx, group_ids=[group for group in groups.values() if group is not None])
    )
    of_atom: dict[int, dict[int, PinRow]] = {}
    for pin in known.values():
        if pin.atom is not None:
            of_atom.setdefault(pin.atom, {})[pin.unit_id] = pin
    problems: list[tuple[str, PrsmError]] = []
    taken: list[int] = []
    names = agents.names(tx)
    for key in keys:
        if key not in ids:
            unknown = NotFoundError("ownership.unknown_unit", unit=key, remedy=remedy(key))
            problems.append((key, unknown))
            continue
        unit = found[ids[key]]
        group = groups[unit.id]
        atom = atoms[unit.id]
        others = of_atom.get(atom, {}) if atom is not None else {}
        clash = next(
            (p for p in others.values() if p.unit_id != unit.id and p.agent_id != row.id), None
        )
        problem = pin_obstacle(
            key, unit, row, atom, banned.get(group, ()) if group is not None else ()
        )
        if problem is None and clash is not None:
            problem = Message(
                "ownership.pins_clash",
                unit=key,
                other=clash.unit,
                agent=names[clash.agent_id],
            )
        if problem is None:
            taken.append(unit.id)
            continue
        problems.append((key, ConflictError(problem)))
    pins.pin(
        tx,
        [
            {
                "unit_id": unit,
                "agent_id": row.id,
                "reason": reason or "",
                "made_by": actor.name,
                "made_ms": now_ms,
            }
            for unit in dict.fromkeys(taken)
        ],
    )
    return len(taken), problems, _follow(tx, taken, now_ms)


def pin_obstacle(
    key: str, unit: UnitRow, row: AgentRow, atom: int | None, banned: Collection[int]
) -> Message | None:
    """Return why an agent cannot own a unit, whatever is pinned; None: it can.

    key: the unit's. atom: what must have one owner with it. banned: agents that never get it.
    """
    if unit.merged_ms is not None:
        return Message("ownership.merged_unit", unit=key, remedy=remedy(key))
    if unit.state == "excluded":
        return Message("ownership.excluded_unit", unit=key)
    if row.is_plain and (unit.path != "/" or (atom or 0) < 0):
        return Message("ownership.plain_agent", agent=row.name, unit=key)
    if row.id in banned:
        return Message("ownership.banned_agent", agent=row.name, unit=key)
    return None


def _follow(tx: Transaction, unit_ids: Collection[int], now_ms: int) -> int:
    """Give groups with an owner to the agents that their pins name; return how many moved."""
    found = pins.pins_in_groups(tx, unit_ids)
    groups = {row.group_id for row in found if row.group_id is not None}
    fleet = {row.id: row for row in agents.all_agents(tx)}
    standing = judge(found, pins.bans_of_hosts(tx, group_ids=groups), fleet)
    owners = {
        unit: standing.of_atom[atom]
        for atom, unit, agent in assignments.owners_of_atoms(tx, standing.of_atom)
        if agent != standing.of_atom[atom]
    }
    return assign_units(tx, owners, now_ms, Message("ownership.pinned"))


def remedy(key: str) -> Message:
    """Return what to do first where a key is no unit."""
    if key == host_key(key):
        return Message("ownership.import_first")
    return Message("hosts.split_or_name_host", host=host_key(key))


def _keys(texts: Iterable[str]) -> tuple[list[str], list[tuple[str, PrsmError]]]:
    keys: list[str] = []
    problems: list[tuple[str, PrsmError]] = []
    for text in texts:
        try:
            keys.append(_key(text))
        except PrsmError as error:
            problems.append((text, error))
    return keys, problems


def _typed(reason: str) -> Message | None:
    """Return a reason that a person typed, as rows hold it beside ours."""
    return Message.of_text(reason) if reason else None


def _key(text: str) -> str:
    return unit_key(complete_line(text))


def agent_of(tx: Transaction, name: str) -> AgentRow:
    """Return an agent by name; raises NotFoundError."""
    with about_field("agent"):
        return agent_named(tx, name, see="agents list")


def _pinnable(tx: Transaction, name: str) -> AgentRow:
    row = agent_of(tx, name)
    if row.retired_ms is not None:
        raise ConflictError("ownership.pin_to_retired", agent=name).about("agent")
    return row
