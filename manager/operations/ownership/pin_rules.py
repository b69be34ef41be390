"""Effective pins and bans: a pin stands while its agent takes part and no rule forbids it.

A pin that does not stand is kept and shown with the reason, and comes into force by itself when
the reason is gone. Of two pins that cannot both hold, as two names turned out to share an address,
the older stands. Invariant: in one group (of a split host: for one piece) all standing pins name
one agent, and none that is banned from a host of it; so every problem made of them has a solution.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from manager.db import group_lookup
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.ownership import pins
from manager.db.ownership.pins import BanRow, PinRow
from manager.operations.ownership.reassignment import members
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "EffectivePins",
    "IneffectiveRule",
    "absence_reason",
    "banned_by_group",
    "ineffective_rules_of",
    "judge",
    "load_standing",
]


@dataclass(frozen=True)
class EffectivePins:
    """owner: which agent a pinned unit belongs to; of_atom: the same by what must have one owner.

    ignored: why a pin does not stand, by unit. banned: by group, the agents that never get it.
    """

    owner: dict[int, int] = field(default_factory=dict)
    of_atom: dict[int, int] = field(default_factory=dict)
    ignored: dict[int, Message] = field(default_factory=dict)
    banned: dict[int, set[int]] = field(default_factory=dict)
    sentences: tuple[Message, ...] = ()


SHOWN: Final = 3
"""Ignored pins that a sentence names; the list of pins shows all."""


def load_standing(tx: Transaction, unit_ids: Collection[int] | None = None) -> EffectivePins:
    """Judge the pins of some units and of units that share their addresses, or all pins."""
    if not pins.any_pin_or_ban(tx):
        return EffectivePins()
    found = pins.pins_among(tx) if unit_ids is None else pins.pins_in_groups(tx, unit_ids)
    if unit_ids is None:
        bans = pins.bans_of_hosts(tx)
    else:
        groups = {group for group in group_lookup.groups_of_units(tx, unit_ids).values() if group}
        bans = pins.bans_of_hosts(tx, group_ids=groups)
    return judge(found, bans, {row.id: row for row in agents.all_agents(tx)} if found else {})


def judge(
    found: Sequence[PinRow], bans: Iterable[BanRow], fleet: Mapping[int, AgentRow]
) -> EffectivePins:
    """Return which of some pins stand. found: oldest first, whole groups of them."""
    banned = banned_by_group(bans)
    standing = EffectivePins(banned=banned)
    first: dict[int, PinRow] = {}
    for row in found:
        agent = fleet[row.agent_id]
        why = _ignored_reason(row, agent, banned)
        if why is None and row.atom is not None:
            other = first.setdefault(row.atom, row)
            if other.agent_id != row.agent_id:
                why = Message(
                    "ownership.other_pin",
                    unit=other.unit,
                    agent=fleet[other.agent_id].name,
                )
        if why is not None:
            standing.ignored[row.unit_id] = why
            continue
        standing.owner[row.unit_id] = row.agent_id
        if row.atom is not None:
            standing.of_atom[row.atom] = row.agent_id
    return EffectivePins(
        owner=standing.owner,
        of_atom=standing.of_atom,
        ignored=standing.ignored,
        banned=banned,
        sentences=_sentences({row.unit_id: row.unit for row in found}, standing.ignored),
    )


def _ignored_reason(row: PinRow, agent: AgentRow, banned: Mapping[int, set[int]]) -> Message | None:
    if row.merged_ms is not None:
        return Message("ownership.pin_of_merged")
    if row.state == "excluded":
        return Message("ownership.pin_of_excluded")
    if row.group_id is not None and agent.id in banned.get(row.group_id, ()):
        return Message("ownership.pin_of_banned", agent=agent.name)
    if agent.is_plain and (row.path != "/" or (row.atom or 0) < 0):
        return Message("ownership.pin_to_plain_agent", agent=agent.name)
    return absence_reason(agent)


def absence_reason(agent: AgentRow) -> Message | None:
    """Return why an agent can own nothing now; None: it can."""
    if agent.retired_ms is not None:
        return Message("ownership.agent_retired", agent=agent.name)
    if not agent.subscribed:
        return Message("ownership.agent_left", agent=agent.name)
    if agent.lost_ms is not None:
        return Message("ownership.agent_lost", agent=agent.name)
    if agent.last_contact_ms is None:
        return Message("ownership.agent_not_called", agent=agent.name)
    return None


def banned_by_group(bans: Iterable[BanRow]) -> dict[int, set[int]]:
    """Return the agents that never get a group, for each group with a host that is banned."""
    found: dict[int, set[int]] = {}
    for row in bans:
        if row.group_id is not None:
            found.setdefault(row.group_id, set()).add(row.agent_id)
    return found


def _sentences(units: Mapping[int, str], ignored: Mapping[int, Message]) -> tuple[Message, ...]:
    if not ignored:
        return ()
    named = [
        Message("ownership.ignored_pin", unit=units[unit], why=why)
        for unit, why in list(ignored.items())[:SHOWN]
    ]
    if len(ignored) > SHOWN:
        named.append(Message("general.and_more", number=len(ignored) - SHOWN))
    return (Message("ownership.pins_ignored", pins=len(ignored), named=named),)


MOST: Final = 100


@frozen
class IneffectiveRule:
    """A rule without effect. host: its key. what: the rule. why: it has none."""

    host: str
    what: Message
    why: Message


def ineffective_rules_of(db: Database) -> list[IneffectiveRule]:
    """Return pins that are ignored and hosts that no present agent may have, at most 100."""
    with db.read() as tx:
        if not pins.any_pin_or_ban(tx):
            return []
        found, bans = pins.pins_among(tx), pins.bans_of_hosts(tx)
        fleet = {row.id: row for row in agents.all_agents(tx)}
        here = {row.id for row in members(tx)}
    standing = judge(found, bans, fleet)
    ignored = [
        IneffectiveRule(
            _host(row.unit),
            Message("ownership.pin_ignored", unit=row.unit, agent=fleet[row.agent_id].name),
            standing.ignored[row.unit_id],
        )
        for row in found
        if row.unit_id in standing.ignored
    ]
    blocked = {group for group, banned in standing.banned.items() if here and here <= banned}
    waiting = {row.host: row for row in bans if row.group_id in blocked}
    return (
        ignored
        + [
            IneffectiveRule(host, Message("ownership.waits"), Message("ownership.all_banned"))
            for host in waiting
        ]
    )[:MOST]


def _host(unit: str) -> str:
    return unit[: unit.index("/", unit.index("//") + 2) + 1]
