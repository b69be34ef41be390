"""Reassignment of units: the one way in which an owner changes while a round may be open.

Invariant: assignments move at once, the rights to fetch only when they are free: an agent that
crawls a unit now continues until it has taken a list without it; one that only probes it continues.
"""

from __future__ import annotations

from collections.abc import Mapping

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.ownership import assignments, rights
from manager.db.rounds import round_units, rounds
from shared.messages import Message

__all__ = ["assign_units", "members"]


def members(tx: Transaction) -> list[AgentRow]:
    """Return the agents that units may be given to: they take part and have called."""
    return [
        agent
        for agent in agents.all_agents(tx)
        if agent.takes_part and agent.last_contact_ms is not None
    ]


def assign_units(
    tx: Transaction,
    owners: Mapping[int, int],
    now_ms: int,
    reason: Message,
    plan_id: int | None = None,
) -> int:
    """Give units to agents (unit to agent), in the present round, too; return how many moved.

    Units that the round does not know yet do not enter it here.
    """
    moved = assignments.place(tx, owners, now_ms, reason, plan_id)
    for number in rounds.live_numbers(tx):
        round_units.hand_over(tx, number, owners)
    crawling = [
        right.unit_id
        for right in rights.of_units(tx, owners)
        if right.kind == "crawl" and right.agent_id != owners[right.unit_id]
    ]
    rights.withdraw(tx, now_ms, Message("ownership.given_to_other"), unit_ids=crawling)
    return moved
