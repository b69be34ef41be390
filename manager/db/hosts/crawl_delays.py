"""Crawl-delays of robots.txt files, as each agent read them last.

A host without one, and an agent that knows no such report, have no row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import sqlalchemy as sa

from manager.db.tables import crawl_delays, units
from manager.db.transaction import Transaction
from shared.frozen import frozen, values_of

__all__ = ["CrawlDelayRow", "delays_of_host", "delays_of_units", "record"]


@frozen
class CrawlDelayRow:
    """Crawl-delay of a host as an agent read it. seen_ms: when it said so, since 1970."""

    host_id: int
    agent_id: int
    delay_ms: int
    seen_ms: int


def delays_of_host(tx: Transaction, host_id: int) -> list[CrawlDelayRow]:
    """Return what agents read of a host, by agent."""
    c = crawl_delays.c
    query = sa.select(crawl_delays).where(c.host_id == host_id).order_by(c.agent_id)
    return tx.rows(CrawlDelayRow, query)


def delays_of_units(
    tx: Transaction, unit_ids: Collection[int]
) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
    """Return the hosts of units, and the delays by host and agent of those that have some."""
    delay = crawl_delays.c
    query = sa.select(units.c.id, units.c.host_id, delay.agent_id, delay.delay_ms).outerjoin(
        crawl_delays, delay.host_id == units.c.host_id
    )
    hosts, found = {}, {}
    for unit_id, host_id, agent_id, delay_ms in tx.among(query, units.c.id, unit_ids):
        hosts[unit_id] = host_id
        if agent_id is not None:
            found[host_id, agent_id] = delay_ms
    return hosts, found


def record(tx: Transaction, changed: Sequence[CrawlDelayRow]) -> None:
    """Write down what agents read; a delay of 0 is none."""
    tx.upsert(
        crawl_delays, [values_of(one) for one in changed if one.delay_ms], ["host_id", "agent_id"]
    )
    gone: dict[int, set[int]] = defaultdict(set)
    for one in changed:
        if not one.delay_ms:
            gone[one.agent_id].add(one.host_id)
    for agent_id, host_ids in gone.items():
        of_agent = crawl_delays.delete().where(crawl_delays.c.agent_id == agent_id)
        tx.changed_among(of_agent, crawl_delays.c.host_id, host_ids)
