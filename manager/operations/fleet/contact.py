"""Messages of agents: M4, M5 and contact; sync is in `sync`.

Invariants. Any message of a plain agent renews its permit. Leaving frees an agent's rights at once,
because it says that it has stopped; its old list no longer brings a permit.
M1 is in `server_lists`, M2 in `discoveries`, M3 in `reports`.
"""

from __future__ import annotations

from dataclasses import replace

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.ownership import rights
from manager.db.planning import probes
from manager.errors import ForbiddenError
from manager.operations.actor import note
from manager.operations.identity.enrolment import AgentIdentity
from manager.operations.ownership.permits import contact_time, end_permit, renew_permit
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.messages import Message

__all__ = [
    "is_restart",
    "note_message",
    "renew_plain",
    "subscribe",
    "unsubscribe",
]


def renew_plain(tx: Transaction, row: AgentRow, what: str, now_ms: int, policy: Policy) -> AgentRow:
    """Record a message of a plain agent, which renews its permit; return the agent's present row.

    It has no fence: it does not say which list it holds. What it may fetch twice after a
    take-over is shown, not prevented.
    """
    at_ms = contact_time(tx, now_ms, policy)
    agents.update(
        tx,
        row.id,
        lost_ms=None,
        returned=row.returned or row.lost_ms is not None,
        last_contact_ms=at_ms,
        last_contact=what,
    )
    renew_permit(tx, replace(row, fence_generation=0), 0, at_ms, policy.plain_permit_s, policy)
    return agents.by_id(tx, row.id) or row


def note_message(
    db: Database,
    agent: AgentIdentity,
    what: str,
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
) -> None:
    """Note that an agent sent one of the five messages; what: `record`, `submitlog`, ...

    Of a plain agent any message renews its assignment; one that has left or was retired stays so.
    """
    with db.write() as tx:
        _noted(tx, agent, what, now_ms, policy)


def _noted(
    tx: Transaction, agent: AgentIdentity, what: str, now_ms: int, policy: Policy
) -> AgentRow:
    row = agents.by_id(tx, agent.id)
    if row is None:
        raise ForbiddenError("general.agent_removed", agent=agent.name)
    if row.is_plain and row.retired_ms is None:
        return renew_plain(tx, row, what, now_ms, policy)
    at_ms = contact_time(tx, now_ms, policy)
    agents.update(tx, row.id, last_contact_ms=at_ms, last_contact=what)
    return row


def is_restart(
    db: Database, agent: AgentIdentity, now_ms: int, policy: Policy = DEFAULT_POLICY
) -> bool:
    """Answer M4: a restart was ordered, and no list was taken since."""
    with db.write() as tx:
        row = _noted(tx, agent, "isrestart", now_ms, policy)
        agents.update(tx, row.id, restart_asked_ms=now_ms)
        return row.restart_ordered_ms is not None


def subscribe(
    db: Database, agent: AgentIdentity, now_ms: int, policy: Policy = DEFAULT_POLICY
) -> None:
    """Subscribe an agent (M5); a subscribed one stays unchanged. Raises ForbiddenError."""
    with db.write() as tx:
        row = _noted(tx, agent, "subscribe", now_ms, policy)
        if row.retired_ms is not None:
            raise ForbiddenError("fleet.retired_rejoin", name=agent.name)
        if not row.subscribed:
            agents.update(tx, row.id, subscribed=True, returned=True)
            note(tx, now_ms, agent.actor, "agent.subscribe", agent.name)


def unsubscribe(
    db: Database, agent: AgentIdentity, now_ms: int, policy: Policy = DEFAULT_POLICY
) -> None:
    """Unsubscribe an agent (M5): it has stopped fetching, and its rights are free at once.

    Its units are given to others by the next tick. Its old list no longer brings a permit.
    """
    with db.write() as tx:
        row = _noted(tx, agent, "unsubscribe", now_ms, policy)
        if not row.subscribed:
            return
        left = Message("ownership.owner_left")
        probes.fail(tx, left, agent_id=row.id)
        if row.rejoined:
            # The machine with the old key did not say that it has stopped.
            rights.withdraw(tx, now_ms, left, agent_id=row.id)
        else:
            rights.free(tx, now_ms, left, agent_id=row.id)
            end_permit(tx, row)
        agents.update(tx, row.id, subscribed=False, returned=False)
        note(tx, now_ms, agent.actor, "agent.unsubscribe", agent.name)
