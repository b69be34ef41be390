"""Bans: hosts that an agent never gets, as its site may not visit them or they block it.

Invariants: a ban holds for the whole address, because an address has one owner; the database
grants no right against one. There is always an agent left that may have the host; who wants none
to have it excludes it. A ban takes the host from its agent at once.
"""

from __future__ import annotations

from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.hosts import hosts
from manager.db.hosts.hosts import HostRow
from manager.db.ownership import assignments, pins, rights
from manager.db.ownership.pins import Ban
from manager.db.planning import probes
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from manager.operations.hosts.idle_hosts import host_named
from manager.operations.ownership.pin_rules import banned_by_group
from manager.operations.ownership.pins import PAGE_MOST, agent_of
from manager.operations.ownership.reassignment import assign_units, members
from manager.operations.planning.cheapest_owners import cheapest_owners
from manager.operations.policy import DEFAULT_POLICY, Policy
from shared.messages import Message

__all__ = ["Ban", "ban_host", "lift_ban", "list_bans"]

BANNED: Final = Message("ownership.banned")


def list_bans(db: Database, *, agent: str = "", limit: int = 100, offset: int = 0) -> list[Ban]:
    """Return a page of bans. Raises NotFoundError."""
    with db.read() as tx:
        number = agent_of(tx, agent).id if agent else None
        return pins.bans_page(tx, number, max(1, min(limit, PAGE_MOST)), max(0, offset))


def ban_host(
    db: Database,
    text: str,
    agent: str,
    reason: str,
    actor: Actor,
    now_ms: int,
    policy: Policy = DEFAULT_POLICY,
) -> int:
    """Ban an agent from a host and from its address; return how many units moved.

    Its probes of the host are given up, and what it owns there goes to others. Raises
    NotFoundError, UrlError, ConflictError (a pin gives it the host; no other agent could have it).
    """
    with db.write() as tx:
        host, row = host_named(tx, text), agent_of(tx, agent)
        unit_ids = [unit.id for unit in hosts.units_of_hosts(tx, [host.key])]
        for pin in pins.pins_in_groups(tx, unit_ids):
            if pin.agent_id == row.id:
                beside = None
                if pin.unit_id not in unit_ids:
                    beside = Message("ownership.shares_its_address", host=host.key)
                pinned = Message("ownership.unit_pinned", unit=pin.unit, agent=agent)
                unpin = Message("ownership.unpin_first", unit=pin.unit)
                raise ConflictError("ownership.ban_obstacle", why=(pinned, beside, unpin)).about(
                    "agent"
                )
        _require_another(tx, host, row)
        pins.ban(
            tx,
            {
                "host_id": host.id,
                "agent_id": row.id,
                "reason": reason,
                "made_by": actor.name,
                "made_ms": now_ms,
            },
        )
        probes.fail(tx, BANNED, agent_id=row.id, unit_ids=unit_ids)
        moved = _take_away(tx, host, row, unit_ids, now_ms, policy)
        note(tx, now_ms, actor, "host.ban", host.key, agent=agent, reason=reason, moved=moved)
    return moved


def lift_ban(db: Database, text: str, agent: str, actor: Actor, now_ms: int) -> bool:
    """Lift a ban; return whether there was one. Raises NotFoundError."""
    with db.write() as tx:
        host, row = host_named(tx, text), agent_of(tx, agent)
        there = bool(pins.lift(tx, host.id, row.id))
        if there:
            note(tx, now_ms, actor, "host.lift-ban", host.key, agent=agent)
    return there


def _require_another(tx: Transaction, host: HostRow, row: AgentRow) -> None:
    """Refuse a ban that leaves no agent that may have the host."""
    if host.group_id is None:
        of_group = {ban.agent_id for ban in pins.bans_of_hosts(tx) if ban.host_id == host.id}
    else:
        found = banned_by_group(pins.bans_of_hosts(tx, group_ids=[host.group_id]))
        of_group = found.get(host.group_id, set())
    left = [
        other.name
        for other in agents.all_agents(tx)
        if other.retired_ms is None and other.id != row.id and other.id not in of_group
    ]
    if not left:
        raise ConflictError("ownership.last_agent", host=host.key, agent=row.name).about("agent")


def _take_away(
    tx: Transaction,
    host: HostRow,
    row: AgentRow,
    unit_ids: list[int],
    now_ms: int,
    policy: Policy,
) -> int:
    """Give what a banned agent owns on an address to others; where none is there it stays idle."""
    held = unit_ids
    moved = 0
    if host.group_id is not None:
        owned = assignments.owners_of_groups(tx, [host.group_id])
        mine = [unit for _, unit, agent in owned if agent == row.id]
        held = [*unit_ids, *mine]
        others = [other for other in members(tx) if other.id != row.id]
        owners, added = cheapest_owners(tx, others, mine, policy, now_ms)
        banned = Message("ownership.agent_banned", agent=row.name, host=host.key)
        moved = assign_units(tx, owners, now_ms, banned)
        agents.add_load(tx, added)
    rights.withdraw(tx, now_ms, BANNED, unit_ids=held, agent_id=row.id)
    return moved
