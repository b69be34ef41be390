"""Give-back: an agent that was lost, or had left, and takes part again gets its units back.

Invariants: only units that were taken over from it and have not moved since come back, and of those
only whole addresses whose crawl in this round their new owner has not begun; so nothing is fetched
twice because an agent came back. Units pinned to it come back in any case. Give-back waits until
the agent may fetch: an agent without a permit would hold the units idle.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from manager.db import group_lookup
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import pieces
from manager.db.ownership import assignments, pins
from manager.db.rounds import round_units, rounds
from manager.operations.actor import CLOCK, note
from manager.operations.fleet.takeover import LEFT, LOST
from manager.operations.ownership.grants import may_receive
from manager.operations.ownership.pin_rules import load_standing
from manager.operations.ownership.reassignment import assign_units, members
from manager.operations.planning.balancing_problem import load_some
from manager.operations.policy import Policy
from shared.messages import Message

__all__ = ["give_back"]

REASON: Final = Message("ownership.owner_back")


def give_back(db: Database, now_ms: int, policy: Policy) -> int:
    """Give units back to agents that returned; return how many moved."""
    with db.read() as tx:
        back = [row.id for row in agents.returned(tx) if _is_back(row, now_ms)]
    moved = 0
    for agent_id in back:
        with db.write() as tx:
            row = agents.by_id(tx, agent_id)
            if row is not None and _is_back(row, now_ms):
                moved += _give_back(tx, row, now_ms, policy)
    return moved


def _is_back(row: AgentRow, now_ms: int) -> bool:
    return row.returned and may_receive(row, now_ms)


def _give_back(tx: Transaction, row: AgentRow, now_ms: int, policy: Policy) -> int:
    agents.update(tx, row.id, returned=False)
    units = _untouched(tx, row)
    pinned = _pinned(tx, row)
    owners = dict.fromkeys([*units, *pinned], row.id)
    if not owners:
        return 0
    _move_load(tx, owners, policy)
    moved = assign_units(tx, owners, now_ms, REASON)
    note(tx, now_ms, CLOCK, "agent.give-back", row.name, units=moved)
    return moved


def _untouched(tx: Transaction, row: AgentRow) -> list[int]:
    """Return the units of an agent that may go back: no crawl of their address has begun."""
    taken = assignments.taken_over_from(tx, row.id, (LOST, LEFT))
    ours: dict[int, set[int]] = defaultdict(set)
    for unit in taken:
        ours[unit.atom].add(unit.unit_id)
    owned: dict[int, set[int]] = defaultdict(set)
    for atom, unit_id, _ in assignments.owners_of_atoms(tx, ours):
        owned[atom].add(unit_id)
    everything = [unit_id for unit_ids in owned.values() for unit_id in unit_ids]
    kept: set[int] = set()
    for number in rounds.live_numbers(tx):
        kept |= round_units.begun(tx, number, everything)
    groups = group_lookup.groups_of_units(tx, everything)
    decided = load_standing(tx, everything)
    if row.is_plain:
        # It synced when it was lost.
        kept |= pieces.for_sync_agents(tx, everything)
    return [
        unit_id
        for atom, unit_ids in ours.items()
        if owned[atom] == unit_ids
        and not unit_ids & kept
        and decided.of_atom.get(atom, row.id) == row.id
        for unit_id in unit_ids
        if row.id not in decided.banned.get(groups[unit_id] or 0, ())
    ]


def _pinned(tx: Transaction, row: AgentRow) -> list[int]:
    """Return what is pinned to an agent and owned by another, whole addresses."""
    decided = load_standing(tx, [pin.unit_id for pin in pins.pins_of_agent(tx, row.id)])
    ours = [atom for atom, agent in decided.of_atom.items() if agent == row.id]
    return [unit for _, unit, owner in assignments.owners_of_atoms(tx, ours) if owner != row.id]


def _move_load(tx: Transaction, owners: dict[int, int], policy: Policy) -> None:
    """Move the cost of these units to their new owners' loads."""
    loaded = load_some(tx, members(tx), owners, policy)
    if loaded is None:
        return
    row_of = {agent: row for row, agent in enumerate(loaded.agent_ids)}
    present = assignments.owners_of(tx, owners)
    added: dict[int, float] = defaultdict(float)
    for column, unit in enumerate(loaded.unit_ids.tolist()):
        for agent, sign in ((owners[unit], 1), (present.get(unit), -1)):
            if agent is not None and agent in row_of:
                added[agent] += sign * float(loaded.problem.costs[row_of[agent], column])
    agents.add_load(tx, added)
