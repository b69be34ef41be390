"""Inputs of a plan: units with groups and owners, and their distances."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Final

import sqlalchemy as sa

from manager.db.planning.probes import was_cut_short
from manager.db.tables import (
    assignments,
    crawl_delays,
    distances,
    hosts,
    plans,
    probe_orders,
    units,
)
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = [
    "PlanUnit",
    "cut_short_among",
    "distances_among",
    "last_tree",
    "plan_units",
]

_CRAWL_DELAY: Final = (
    sa.select(sa.func.min(crawl_delays.c.delay_ms))
    .where(
        crawl_delays.c.host_id == hosts.c.id,
        sa.or_(assignments.c.agent_id.is_(None), crawl_delays.c.agent_id == assignments.c.agent_id),
    )
    .correlate(hosts, assignments)
    .scalar_subquery()
)


@frozen
class PlanUnit:
    """A unit that a plan may place: its group, what is known of its size, who owns it.

    is_piece: of a split host, which may be placed by itself; shared_interval_ms: between requests
    to that host, of all its owners together. crawl_delay_ms: as the owner read it, without an owner
    the least that was read.
    """

    unit_id: int
    group_id: int
    path: str
    volume_kb: float | None
    pages: int | None
    owner: int | None
    is_piece: bool
    shared_interval_ms: int | None
    crawl_delay_ms: int | None

    @property
    def pause_ms(self) -> int:
        """Return the time between requests to the host, of all its owners; 0: not set."""
        return max(self.shared_interval_ms or 0, self.crawl_delay_ms or 0)

    @property
    def is_directory(self) -> bool:
        """Return whether it is only a part of its host: no plain agent can have that."""
        return self.is_piece or self.path != "/"


def distances_among(
    tx: Transaction, agent_ids: Collection[int], states: Collection[str]
) -> Iterator[tuple[int, int, float | None, int, int]]:
    """Yield (unit, agent, ms_per_kb, bytes, lines) of all units in some states."""
    c = distances.c
    query = sa.select(c.unit_id, c.agent_id, c.ms_per_kb, c.bytes, c.lines)
    of_units = query.join(units, units.c.id == c.unit_id)
    yield from map(
        tuple, tx.execute(of_units.where(c.agent_id.in_(agent_ids), units.c.state.in_(states)))
    )


def cut_short_among(
    tx: Transaction,
    *,
    states: Collection[str] = (),
    unit_ids: Collection[int] | None = None,
) -> set[tuple[int, int]]:
    """Return (unit, agent) of the distances to units that were never crawled which come from a
    probe that was cut short: of all units in some states, or of those named."""
    query = (
        sa.select(distances.c.unit_id, distances.c.agent_id)
        .join(units, units.c.id == distances.c.unit_id)
        .join(
            probe_orders,
            sa.and_(
                probe_orders.c.round == distances.c.round,
                probe_orders.c.unit_id == distances.c.unit_id,
                probe_orders.c.agent_id == distances.c.agent_id,
            ),
        )
        .where(units.c.volume_kb.is_(None), distances.c.kind == "probe", was_cut_short())
    )
    if unit_ids is None:
        return set(tx.tuples(query.where(units.c.state.in_(states))))
    return set(map(tuple, tx.among(query, units.c.id, sorted(unit_ids))))


def plan_units(
    tx: Transaction,
    *,
    states: Collection[str] = (),
    unit_ids: Collection[int] | None = None,
) -> list[PlanUnit]:
    """Return units as a plan sees them, by number: all in some states, or those named."""
    query = (
        sa.select(
            units.c.id.label("unit_id"),
            hosts.c.group_id,
            units.c.path,
            units.c.volume_kb,
            units.c.pages,
            assignments.c.agent_id.label("owner"),
            hosts.c.shared_interval_ms.is_not(None).label("is_piece"),
            hosts.c.shared_interval_ms,
            _CRAWL_DELAY.label("crawl_delay_ms"),
        )
        .join(hosts, hosts.c.id == units.c.host_id)
        .outerjoin(
            assignments,
            sa.and_(assignments.c.unit_id == units.c.id, assignments.c.until_ms.is_(None)),
        )
        .order_by(units.c.id)
    )
    if unit_ids is None:
        return tx.rows(PlanUnit, query.where(units.c.state.in_(states)))
    return tx.rows_among(PlanUnit, query, units.c.id, sorted(unit_ids))


def last_tree(tx: Transaction) -> list[tuple[str, str]]:
    """Return the edges, by agents' names, of the tree of the plan that was applied last."""
    detail = tx.value(
        sa.select(plans.c.detail)
        .where(plans.c.applied_ms.is_not(None))
        .order_by(plans.c.id.desc())
        .limit(1)
    )
    return [(first, second) for first, second, _ in json.loads(detail)["tree"]] if detail else []
