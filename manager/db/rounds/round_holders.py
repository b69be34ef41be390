"""The rows that keep a round from its end: units, probes, hosts without a place or an address.

Of however many there are, those come first that are held longest: the database keeps no more of
them than are asked for while it sorts, and joins names to these only.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from manager.db.ownership.work_orders import OPEN
from manager.db.tables import agents, host_rests, hosts, probe_orders, rights, unit_rounds, units
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = ["HolderRow", "open_probes", "open_units", "unplaced", "unresolved"]


@frozen
class HolderRow:
    """A unit that a round waits for. since_ms: when its agent got it. agent: empty: none has it.

    until_ms: when the host may be asked next, as it told an agent with `why`; None: unknown.
    """

    unit: str
    state: str
    agent: str
    since_ms: int | None
    until_ms: int | None
    why: str


def open_units(tx: Transaction, number: int, limit: int) -> tuple[int, list[HolderRow]]:
    """Return how many units of a round are not finished, and some, the longest held first."""
    of_round = sa.and_(
        unit_rounds.c.round == number, unit_rounds.c.state.in_(("granted", "waiting"))
    )
    total = tx.count(unit_rounds, of_round)
    held = sa.and_(rights.c.unit_id == unit_rounds.c.unit_id, rights.c.kind == "crawl")
    oldest = (
        sa.select(
            unit_rounds.c.unit_id, unit_rounds.c.agent_id, unit_rounds.c.state, rights.c.granted_ms
        )
        .select_from(unit_rounds.outerjoin(rights, held))
        .where(of_round)
        .order_by(rights.c.granted_ms.is_(None), rights.c.granted_ms, unit_rounds.c.unit_id)
        .limit(limit)
        .subquery()
    )
    c = oldest.c
    rest = sa.and_(host_rests.c.host_id == units.c.host_id, host_rests.c.agent_id == c.agent_id)
    query = (
        sa.select(
            units.c.key.label("unit"),
            c.state,
            agents.c.name.label("agent"),
            c.granted_ms.label("since_ms"),
            host_rests.c.until_ms,
            sa.func.coalesce(host_rests.c.reason, "").label("why"),
        )
        .select_from(oldest)
        .join(units, units.c.id == c.unit_id)
        .join(agents, agents.c.id == c.agent_id)
        .outerjoin(host_rests, rest)
        .order_by(c.granted_ms.is_(None), c.granted_ms, c.unit_id)
    )
    return total, tx.rows(HolderRow, query)


def open_probes(tx: Transaction, number: int, limit: int) -> tuple[int, list[HolderRow]]:
    """Return how many probes of a round are to be done, and some, the longest ordered first."""
    of_round = sa.and_(probe_orders.c.round == number, probe_orders.c.state.in_(OPEN))
    total = tx.count(probe_orders, of_round)
    by_age = (probe_orders.c.granted_ms.is_(None), probe_orders.c.granted_ms, probe_orders.c.id)
    oldest = sa.select(probe_orders).where(of_round).order_by(*by_age).limit(limit).subquery()
    c = oldest.c
    query = (
        sa.select(
            units.c.key.label("unit"),
            c.state,
            agents.c.name.label("agent"),
            c.granted_ms.label("since_ms"),
            sa.null().label("until_ms"),
            sa.literal("").label("why"),
        )
        .select_from(oldest)
        .join(units, units.c.id == c.unit_id)
        .join(agents, agents.c.id == c.agent_id)
        .order_by(c.granted_ms.is_(None), c.granted_ms, c.id)
    )
    return total, tx.rows(HolderRow, query)


def unplaced(tx: Transaction, outside: sa.Select[Any], limit: int) -> tuple[int, list[HolderRow]]:
    """Return how many units wait for an owner, and some; outside: groups not to look at."""
    waiting = sa.and_(units.c.state.in_(("probing", "idle")), hosts.c.group_id.not_in(outside))
    joined = units.join(hosts, hosts.c.id == units.c.host_id)
    return tx.count(joined, waiting), _without_agent(tx, joined, waiting, units.c.state, limit)


def unresolved(tx: Transaction, since_ms: int, limit: int) -> tuple[int, list[HolderRow]]:
    """Return how many hosts that were found since a moment have not been resolved, and some."""
    joined = units.join(hosts, hosts.c.id == units.c.host_id)
    new = sa.and_(
        units.c.state == "new", hosts.c.resolution == "new", hosts.c.first_seen_ms >= since_ms
    )
    return tx.count(joined, new), _without_agent(tx, joined, new, units.c.state, limit)


def _without_agent(
    tx: Transaction, joined: sa.Join, which: Any, state: sa.Column[str], limit: int
) -> list[HolderRow]:
    query = (
        sa.select(
            units.c.key.label("unit"),
            state,
            sa.literal("").label("agent"),
            sa.null().label("since_ms"),
            sa.null().label("until_ms"),
            sa.literal("").label("why"),
        )
        .select_from(joined)
        .where(which)
        .order_by(units.c.id)
        .limit(limit)
    )
    return tx.rows(HolderRow, query)
