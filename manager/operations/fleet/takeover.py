"""Take-over: units of agents that are lost, left or retired go to the others; pieces of split hosts
whose agent joined again as a plain one go to agents that sync.

Invariants: an agent is lost only when its promised contact plus grace has passed *and* its permit
is over (`manager.assignment.liveness`). Units go in whole groups, to the agents where they cost
least; each batch is one transaction, so a kill in between leaves every unit with one owner. Units
that no agent could take stay where they are.
Data that the agent still sends is kept and changes nothing.
"""

from __future__ import annotations

from typing import Final

from manager.assignment.liveness import AgentFacts, Liveness, LivenessState, liveness
from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agent_summaries import OverviewRow
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import pieces
from manager.db.ownership import assignments, rights
from manager.db.planning import probes
from manager.db.rounds import round_units, rounds
from manager.operations.actor import CLOCK, note
from manager.operations.ownership.grants import may_receive
from manager.operations.ownership.reassignment import assign_units
from manager.operations.planning.cheapest_owners import cheapest_owners
from manager.operations.policy import Policy
from shared.frozen import frozen
from shared.messages import Message

__all__ = ["IDLE", "LEFT", "LOST", "AgentWork", "liveness_of", "take_over"]

RETIRED: Final = Message("ownership.owner_retired")
LEFT: Final = Message("ownership.owner_left")
LOST: Final = Message("ownership.owner_lost")
PLAIN: Final = Message("ownership.owner_is_plain")


@frozen
class AgentWork:
    """The work of an agent: units that it owns, rights of each kind, and since when it has any.

    probes_waiting: ordered of it and not granted yet. since_ms: None: it has no right.
    """

    owned: int = 0
    crawls: int = 0
    probes: int = 0
    probes_waiting: int = 0
    since_ms: int | None = None


IDLE: Final = AgentWork()


def liveness_of(
    row: AgentRow | OverviewRow, work: AgentWork, now_ms: int, policy: Policy
) -> Liveness:
    """Return an agent's liveness and its reason."""
    return liveness(
        AgentFacts(
            kind="plain" if row.is_plain else "sync",
            last_contact_ms=row.last_contact_ms,
            grace_ms=round(policy.grace_s * 1000),
            last_work_ms=row.last_work_ms,
            promised_ms=row.promised_ms,
            permit_until_ms=row.permit_until_ms,
            units_held=work.crawls + work.probes,
            work_since_ms=work.since_ms,
            probes_waiting=work.probes_waiting,
            retired=row.retired_ms is not None,
            left=not row.subscribed,
            says_state=row.state,
            says=row.state_reason,
        ),
        now_ms,
        round(policy.plain_permit_s * 1000),
    )


def take_over(db: Database, now_ms: int, policy: Policy) -> int:
    """Give units to others whose agents no longer take part, or cannot have them.

    Returns how many moved.
    """
    with db.read() as tx:
        leaving = [
            row.id
            # An agent whose permit still runs is not lost.
            for row in agents.silent_or_gone(tx, now_ms)
            if _leaves(row, now_ms, policy)
            and (row.takes_part or assignments.owned_by(tx, row.id, 1))
        ]
    moved = 0
    for agent_id in leaving:
        while True:
            with db.write() as tx:
                row = agents.by_id(tx, agent_id)
                # It may have called since.
                if row is None or not _leaves(row, now_ms, policy):
                    break
                count = _hand_over_batch(tx, row, now_ms, policy)
            moved += count
            if not count:
                break
    return moved + _hand_over_pieces(db, now_ms, policy)


def _hand_over_pieces(db: Database, now_ms: int, policy: Policy) -> int:
    """Give what plain agents own and cannot have to agents that sync; return how many moved.

    Where none is there it stays and is not fetched: who cannot read what others have of a host
    would fetch that too, and at the whole rate.
    """
    with db.read() as tx:
        if not pieces.of_plain_agents(tx):
            return 0
    moved = 0
    with db.write() as tx:
        found = pieces.of_plain_agents(tx)
        everybody = agents.all_agents(tx)
        taking = [row for row in everybody if not row.is_plain and may_receive(row, now_ms)]
        for row in everybody:
            if row.id not in found:
                continue
            owners, added = cheapest_owners(tx, taking, found[row.id], policy, now_ms)
            if not owners:
                continue
            count = assign_units(tx, owners, now_ms, PLAIN)
            agents.add_load(tx, added)
            note(tx, now_ms, CLOCK, "agent.take-over", row.name, units=count, reason=PLAIN)
            moved += count
    return moved


def _leaves(row: AgentRow, now_ms: int, policy: Policy) -> bool:
    if not row.takes_part:
        return True
    return liveness_of(row, IDLE, now_ms, policy).state is LivenessState.LOST


def _hand_over_batch(tx: Transaction, row: AgentRow, now_ms: int, policy: Policy) -> int:
    reason = _takeover_reason(row)
    if row.takes_part:
        agents.update(tx, row.id, lost_ms=now_ms, returned=False)
        probes.fail(tx, reason, agent_id=row.id, states=["waiting", "granted", "finished"])
        note(tx, now_ms, CLOCK, "agent.mark-lost", row.name, alert=True, reason=reason)
    units = [unit for unit, _ in assignments.groups_of_agent(tx, row.id, policy.tick_batch_rows)]
    if not units:
        return 0
    others = [
        other
        for other in agents.all_agents(tx)
        if other.id != row.id and may_receive(other, now_ms)
    ]
    owners, added = cheapest_owners(tx, others, units, policy, now_ms)
    if not owners:
        return 0
    moved = assignments.place(tx, owners, now_ms, reason)
    for number in rounds.live_numbers(tx):
        round_units.hand_over(tx, number, owners)
    # A retired agent's permit may still run: its rights are free only when that is over.
    rights.withdraw(tx, now_ms, reason, unit_ids=list(owners), agent_id=row.id)
    agents.add_load(tx, added)
    agents.update(tx, row.id, load_ms=0.0)
    note(tx, now_ms, CLOCK, "agent.take-over", row.name, units=moved, reason=reason)
    return moved


def _takeover_reason(row: AgentRow) -> Message:
    if row.retired_ms is not None:
        return RETIRED
    return LEFT if not row.subscribed else LOST
