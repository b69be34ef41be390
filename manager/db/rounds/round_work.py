"""Work of a round by unit and agent: crawls and probes that are left, for forecasts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from manager.db.ownership.work_orders import OPEN
from manager.db.tables import (
    assignments,
    crawl_delays,
    distances,
    host_sums,
    hosts,
    probe_orders,
    unit_rounds,
    units,
)
from manager.db.transaction import Transaction
from shared.frozen import frozen

__all__ = ["OpenProbes", "WorkTuple", "count_units", "crawls_left", "open_probes", "owned_units"]

Size = tuple[int | None, float | None, int | None, int | None]
Distance = tuple[float | None, int | None, int | None]
WorkTuple = tuple[int, int, *Size, *Distance, int]
"""(agent, group, pages, KBytes, shared interval, Crawl-delay, ms per KByte, bytes and lines of the
distance, requests so far) of a unit."""

IN_ROUND = ("placed", "probing")


@frozen
class OpenProbes:
    """Open probes of an agent in a round. granted: it has the right; finished: its log is awaited.

    first_ms, last_ms: the oldest and the newest grant; ordered_ms: the newest order.
    """

    agent_id: int
    waiting: int
    granted: int
    finished: int
    first_ms: int | None
    last_ms: int | None
    ordered_ms: int


def crawls_left(tx: Transaction, number: int) -> Iterator[WorkTuple]:
    """Yield the units of a round that are not finished, with what is known of their size."""
    so_far = (
        sa.select(host_sums.c.unit_id, sa.func.sum(host_sums.c.requests).label("requests"))
        .where(host_sums.c.round == number, host_sums.c.kind == "crawl")
        .group_by(host_sums.c.unit_id)
        .subquery()
    )
    query = _sized(unit_rounds.c.agent_id, sa.func.coalesce(so_far.c.requests, 0))
    joined = query.select_from(
        _with_distance(
            unit_rounds.join(units, units.c.id == unit_rounds.c.unit_id), unit_rounds.c.agent_id
        ).outerjoin(so_far, so_far.c.unit_id == units.c.id)
    )
    unfinished = unit_rounds.c.state.in_(("waiting", "granted"))
    yield from tx.each(joined.where(unit_rounds.c.round == number, unfinished))


def owned_units(tx: Transaction) -> Iterator[WorkTuple]:
    """Yield the units that a round would take, with their present owners."""
    query = _sized(assignments.c.agent_id, sa.literal(0))
    joined = query.select_from(
        _with_distance(
            assignments.join(units, units.c.id == assignments.c.unit_id), assignments.c.agent_id
        )
    )
    placed = assignments.c.until_ms.is_(None), units.c.state.in_(IN_ROUND)
    yield from tx.each(joined.where(*placed))


def _sized(agent: sa.Column[int], requests: Any) -> sa.Select[Any]:
    return sa.select(
        agent,
        hosts.c.group_id,
        units.c.pages,
        units.c.volume_kb,
        hosts.c.shared_interval_ms,
        crawl_delays.c.delay_ms,
        distances.c.ms_per_kb,
        distances.c.bytes,
        distances.c.lines,
        requests,
    )


def _with_distance(joined: sa.Join, agent: sa.Column[int]) -> sa.Join:
    pair = sa.and_(distances.c.unit_id == units.c.id, distances.c.agent_id == agent)
    delay = sa.and_(crawl_delays.c.host_id == hosts.c.id, crawl_delays.c.agent_id == agent)
    joined = joined.join(hosts, hosts.c.id == units.c.host_id)
    return joined.outerjoin(crawl_delays, delay).outerjoin(distances, pair)


def count_units(tx: Transaction) -> int:
    """Return how many units a round would take, with an owner or without."""
    return tx.count(units, units.c.state.in_(("placed", "probing", "idle")))


def open_probes(tx: Transaction, number: int) -> list[OpenProbes]:
    """Return the open probes of a round by agent."""
    c = probe_orders.c

    def state(name: str) -> sa.ColumnElement[int]:
        return sa.func.sum(sa.case((c.state == name, 1), else_=0)).label(name)

    query = sa.select(
        c.agent_id,
        state("waiting"),
        state("granted"),
        state("finished"),
        sa.func.min(sa.case((c.state == "granted", c.granted_ms))).label("first_ms"),
        sa.func.max(sa.case((c.state == "granted", c.granted_ms))).label("last_ms"),
        sa.func.max(c.ordered_ms).label("ordered_ms"),
    )
    of_round = query.where(c.round == number, c.state.in_(OPEN)).group_by(c.agent_id)
    return tx.rows(OpenProbes, of_round.order_by(c.agent_id))
