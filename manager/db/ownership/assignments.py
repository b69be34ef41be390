"""Assignments of units: intervals that are opened and closed, never changed otherwise.

Invariant: at most one open interval a unit (the database holds it). Who becomes the owner is left
to operations and the rules of balancing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

import sqlalchemy as sa

from manager.db.group_lookup import ATOM
from manager.db.tables import assignments, hosts, units
from manager.db.transaction import Transaction, chunks
from manager.message_fields import message_fields
from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "AssignmentRow",
    "TakenOver",
    "close",
    "count_by_agent",
    "count_of",
    "groups_of_agent",
    "history",
    "owned_by",
    "owners_of",
    "owners_of_atoms",
    "owners_of_groups",
    "place",
    "split_groups",
    "taken_over_from",
]


@message_fields
@frozen
class AssignmentRow:
    """One owner of one unit; `until_ms` None: still."""

    id: int
    unit_id: int
    agent_id: int
    epoch: int
    since_ms: int
    until_ms: int | None
    reason_opened: Message | None
    reason_closed: Message | None
    plan_id: int | None


@frozen
class TakenOver:
    """A unit that was taken from an agent, what must have one owner with it, who owns it now."""

    unit_id: int
    atom: int
    owner: int


_OPEN: Final = assignments.c.until_ms.is_(None)


def place(
    tx: Transaction,
    owners: Mapping[int, int],
    now_ms: int,
    reason: Message,
    plan_id: int | None = None,
) -> int:
    """Give units to agents (unit to agent); an interval of another owner is closed first.

    Units that the agent owns already stay as they are. Returns how many changed.
    """
    present = owners_of(tx, owners)
    changing = {unit: agent for unit, agent in owners.items() if present.get(unit) != agent}
    if not changing:
        return 0
    close(tx, [unit for unit in changing if unit in present], now_ms, reason)
    unit_id = assignments.c.unit_id
    last = sa.select(unit_id, sa.func.max(assignments.c.epoch)).group_by(unit_id)
    begun = {"since_ms": now_ms, "reason_opened": reason, "plan_id": plan_id}
    for part in chunks(changing):
        epochs = dict(tx.tuples(last.where(unit_id.in_(part))))
        rows = [
            {"unit_id": unit, "agent_id": changing[unit], "epoch": epochs.get(unit, 0) + 1, **begun}
            for unit in part
        ]
        tx.insert(assignments, rows)
        tx.execute(units.update().where(units.c.id.in_(part)).values(state="placed"))
    return len(changing)


def close(tx: Transaction, unit_ids: Collection[int], now_ms: int, reason: Message) -> None:
    """End the open intervals of units."""
    closing = assignments.update().where(_OPEN).values(until_ms=now_ms, reason_closed=reason)
    tx.changed_among(closing, assignments.c.unit_id, unit_ids)


def owners_of(tx: Transaction, unit_ids: Collection[int]) -> dict[int, int]:
    """Return the owner of each of some units; units without one are left out."""
    query = sa.select(assignments.c.unit_id, assignments.c.agent_id).where(_OPEN)
    return dict(tx.among(query, assignments.c.unit_id, unit_ids))


def owners_of_groups(tx: Transaction, group_ids: Collection[int]) -> list[tuple[int, int, int]]:
    """Return (group, unit, agent) of every unit of some groups that has an owner."""
    query = (
        sa.select(hosts.c.group_id, assignments.c.unit_id, assignments.c.agent_id)
        .join(units, units.c.host_id == hosts.c.id)
        .join(assignments, assignments.c.unit_id == units.c.id)
        .where(_OPEN)
    )
    return list(map(tuple, tx.among(query, hosts.c.group_id, group_ids)))


def owners_of_atoms(tx: Transaction, atoms: Collection[int]) -> list[tuple[int, int, int]]:
    """Return (atom, unit, agent) of all that has an owner in some atoms.

    Atoms are groups, and pieces of split hosts, as minus their numbers.
    """
    pieces = owners_of(tx, [-atom for atom in atoms if atom < 0])
    groups = owners_of_groups(tx, [atom for atom in atoms if atom > 0])
    return [*((-unit, unit, agent) for unit, agent in pieces.items()), *groups]


def split_groups(tx: Transaction, limit: int = 10_000) -> list[int]:
    """Return groups whose units have more than one owner, but must not."""
    return tx.values(
        sa.select(hosts.c.group_id)
        .join(units, units.c.host_id == hosts.c.id)
        .join(assignments, assignments.c.unit_id == units.c.id)
        .where(_OPEN, hosts.c.shared_interval_ms.is_(None))
        .group_by(hosts.c.group_id)
        .having(sa.func.count(assignments.c.agent_id.distinct()) > 1)
        .limit(limit)
    )


def owned_by(tx: Transaction, agent_id: int, limit: int) -> list[int]:
    """Return some units that an agent owns, lowest number first."""
    query = sa.select(assignments.c.unit_id).where(assignments.c.agent_id == agent_id, _OPEN)
    return tx.values(query.order_by(assignments.c.unit_id).limit(limit))


def groups_of_agent(tx: Transaction, agent_id: int, limit: int) -> list[tuple[int, int]]:
    """Return (unit, group) of an agent's units: whole groups, about `limit` units."""
    of_host = units.c.host_id == hosts.c.id
    query = (
        sa.select(assignments.c.unit_id, hosts.c.group_id)
        .join(units, units.c.id == assignments.c.unit_id)
        .join(hosts, of_host)
        .where(assignments.c.agent_id == agent_id, _OPEN)
    )
    found: set[tuple[int, int]] = set()
    for part in chunks(owned_by(tx, agent_id, limit)):
        groups = sa.select(hosts.c.group_id).join(units, of_host).where(units.c.id.in_(part))
        found.update(tx.tuples(query.where(hosts.c.group_id.in_(groups))))
    return sorted(found)


def taken_over_from(
    tx: Transaction, agent_id: int, reasons: Collection[Message]
) -> list[TakenOver]:
    """Return the units that were taken from an agent for one of some reasons, and moved no more.

    Their present owners' intervals follow the agent's own, and began for that reason.
    """
    earlier = assignments.alias("earlier")
    return tx.rows(
        TakenOver,
        sa.select(assignments.c.unit_id, ATOM.label("atom"), assignments.c.agent_id.label("owner"))
        .join(
            earlier,
            sa.and_(
                earlier.c.unit_id == assignments.c.unit_id,
                earlier.c.epoch == assignments.c.epoch - 1,
            ),
        )
        .join(units, units.c.id == assignments.c.unit_id)
        .join(hosts, hosts.c.id == units.c.host_id)
        .where(
            _OPEN,
            assignments.c.agent_id != agent_id,
            assignments.c.reason_opened.in_(reasons),
            earlier.c.agent_id == agent_id,
            earlier.c.reason_closed.in_(reasons),
        )
        .order_by(assignments.c.unit_id),
    )


def count_by_agent(tx: Transaction) -> dict[int, int]:
    """Return how many units each agent owns; agents with none are left out."""
    return tx.counts(assignments.c.agent_id, _OPEN)


def count_of(tx: Transaction, agent_id: int) -> int:
    """Return how many units an agent owns."""
    return tx.count(assignments, assignments.c.agent_id == agent_id, _OPEN)


def history(tx: Transaction, unit_ids: Collection[int]) -> list[AssignmentRow]:
    """Return all owners that some units ever had, newest first."""
    c = assignments.c
    query = sa.select(assignments).order_by(c.unit_id, c.epoch.desc())
    return tx.rows_among(AssignmentRow, query, c.unit_id, unit_ids)
