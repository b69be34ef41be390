"""A host as large as its last crawl would say, as near to all agents."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from manager.db.engine import Database
from manager.db.hosts import hosts
from manager.db.measurement import measurements
from manager.db.measurement.measurements import DistanceRow

__all__ = ["ANSWER_MS", "size_host"]

ANSWER_MS = 100
"""Time of an answer, which is a kilobyte."""


def size_host(db: Database, key: str, pages: int, agent_ids: Collection[int], now_ms: int) -> None:
    """Give a whole host so many pages, each with an answer of 100 ms from all of some agents."""
    with db.write() as tx:
        [top] = [one for one in hosts.units_of_hosts(tx, [key]) if one.path == "/"]
        hosts.set_volume(tx, top.id, float(pages), pages)
        distance = DistanceRow(
            top.id, 0, now_ms, 1, "crawl", lines=9, bytes=9000, ms=900, ms_per_kb=float(ANSWER_MS)
        )
        measurements.set_distances(tx, [replace(distance, agent_id=one) for one in agent_ids])
