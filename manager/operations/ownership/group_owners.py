"""One owner for each address group.

Invariant: after `enforce_one_owner` every unit of a group has the same owner, and no other agent
keeps a right in the group. The pieces of a shared host are left to `host_shares`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from typing import Final

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.hosts import pieces
from manager.db.ownership import assignments, pins, rights
from manager.db.rounds import round_units, rounds
from manager.operations.ownership.pin_rules import judge
from shared.messages import Message

__all__ = ["SAME_ADDRESS", "enforce_one_owner"]

SAME_ADDRESS: Final = Message("ownership.same_address")
OTHERS_ADDRESS: Final = Message("ownership.address_of_other")


def enforce_one_owner(tx: Transaction, group_ids: Collection[int], now_ms: int) -> None:
    """Give each of some groups to one agent, and withdraw the rights of others in it.

    A pinned group goes to the agent of its pin, if it has an owner. Else, of the agents that may
    have it, the one that owns most units keeps it; without an owner, the one with most rights in
    it. A group with a directory goes to no plain agent, which gets whole hosts only.
    """
    if not group_ids:
        return
    found, bans = pins.pins_among(tx, group_ids), pins.bans_of_hosts(tx, group_ids=group_ids)
    fleet = {row.id: row for row in agents.all_agents(tx)} if found else {}
    decided = judge(found, bans, fleet)
    owned: dict[int, Counter[int]] = defaultdict(Counter)
    units: dict[int, dict[int, int]] = defaultdict(dict)
    for group, unit, agent in assignments.owners_of_groups(tx, group_ids):
        owned[group][agent] += 1
        units[group][unit] = agent
    plain = {row.id for row in agents.named(tx) if row.is_plain}
    in_pieces: set[int] = set()
    if plain:
        in_pieces = pieces.for_sync_agents(tx, [unit for mine in units.values() for unit in mine])
    held: dict[int, Counter[int]] = defaultdict(Counter)
    standing = rights.units_in_groups(tx, group_ids)
    for right in standing:
        held[right.group_id][right.agent_id] += 1
    keeper: dict[int, int] = {}
    for group in group_ids:
        candidates = owned[group] or held[group]
        if owned[group] and group in decided.of_atom:
            candidates = Counter({decided.of_atom[group]: 1})
        banned = decided.banned.get(group, ())
        not_here = {*banned, *plain} if in_pieces.intersection(units[group]) else banned
        candidates = (
            Counter({a: n for a, n in candidates.items() if a not in not_here}) or candidates
        )
        if candidates:
            most = max((count, held[group][agent]) for agent, count in candidates.items())
            keeper[group] = min(
                agent for agent, count in candidates.items() if (count, held[group][agent]) == most
            )
    moving = {
        unit: keeper[group]
        for group, of_group in units.items()
        for unit, agent in of_group.items()
        if agent != keeper[group]
    }
    assignments.place(tx, moving, now_ms, SAME_ADDRESS)
    for number in rounds.live_numbers(tx):
        round_units.hand_over(tx, number, moving)
    rights.withdraw(
        tx,
        now_ms,
        OTHERS_ADDRESS,
        unit_ids=[right.unit_id for right in standing if right.agent_id != keeper[right.group_id]],
    )
