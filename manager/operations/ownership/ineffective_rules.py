"""Pins and bans that cannot be applied.

Invariant: nothing is changed here. A pin comes into force again by itself (`pin_rules`), a host
that all present agents are banned from is crawled again when one comes that may have it.
"""

from __future__ import annotations

from typing import Final

from manager.db.engine import Database
from manager.db.fleet import agents
from manager.db.ownership import pins
from manager.operations.ownership.pin_rules import judge
from manager.operations.ownership.reassignment import members
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["IneffectiveRule", "ineffective_rules_of"]

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
