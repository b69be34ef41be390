"""Pairs of unit and agent by the age of their measurement, to order probes of."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from manager.db.ownership.pins import not_banned
from manager.db.tables import distances, probe_orders, units
from manager.db.transaction import Transaction

__all__ = ["granted_in", "into_round", "measured_when", "stale_pairs"]

PROBED = ("placed", "probing", "idle")


def measured_when(tx: Transaction, unit_id: int, crawled_in: int) -> dict[int, int | None]:
    """Return by agent when it measured a unit last; None: by the crawl of round `crawled_in`."""
    c = distances.c
    query = sa.select(c.agent_id, c.measured_ms, c.round, c.kind).where(c.unit_id == unit_id)
    return {
        agent: None if (number, kind) == (crawled_in, "crawl") else measured_ms
        for agent, measured_ms, number, kind in tx.tuples(query)
    }


def granted_in(tx: Transaction, round_number: int) -> list[int]:
    """Return the units that an agent is probing in a round now."""
    c = probe_orders.c
    return tx.values(sa.select(c.unit_id).where(c.round == round_number, c.state == "granted"))


def stale_pairs(
    tx: Transaction, agent_ids: Sequence[int], before_ms: int, limit: int, *, missing: bool
) -> list[tuple[int, int]]:
    """Return (unit, agent) that were measured before a moment, the oldest first.

    missing: then also units that an agent never measured. Hosts that an agent never gets are left
    out, and directories, for which their host stands.
    """
    probed = sa.and_(units.c.state.in_(PROBED), units.c.path == "/")
    found: list[tuple[int, int]] = tx.tuples(
        sa.select(distances.c.unit_id, distances.c.agent_id)
        .join(units, units.c.id == distances.c.unit_id)
        .where(
            distances.c.agent_id.in_(agent_ids),
            distances.c.measured_ms < before_ms,
            probed,
            not_banned(distances.c.agent_id, units.c.host_id),
        )
        .order_by(distances.c.measured_ms, distances.c.unit_id)
        .limit(limit)
    )
    for agent_id in agent_ids if missing else ():
        known = sa.exists().where(
            distances.c.unit_id == units.c.id, distances.c.agent_id == agent_id
        )
        unknown = tx.values(
            sa.select(units.c.id)
            .where(probed, ~known, not_banned(sa.literal(agent_id), units.c.host_id))
            .order_by(units.c.id)
            .limit(max(0, limit - len(found)))
        )
        found += [(unit, agent_id) for unit in unknown]
    return found


def into_round(tx: Transaction, after: int, number: int, now_ms: int) -> int:
    """Move orders of rounds beyond `after`, which never began, to round `number`; count them.

    They are as old as the round: no agent could carry them out before.
    """
    return tx.changed(
        probe_orders.update()
        .where(probe_orders.c.round > after, probe_orders.c.state == "waiting")
        .values(round=number, ordered_ms=now_ms)
    )
