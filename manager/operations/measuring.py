"""Make distances and volumes from what the logs summed up to.

Invariant: a distance is a function of the sums of its agent and unit, and a volume of the sums of
the agent that finished the unit; so the order in which logs and reports of finished units arrive
decides nothing.
- distance = sum of ms / sum of KBytes of the newest probe or crawl (of one round, the crawl).
- volume = KBytes of the newest crawl, as its finisher's log says.
A KByte is 1,000 bytes.
"""

from __future__ import annotations

from collections.abc import Collection

from manager.db import measurements
from manager.db.engine import Transaction
from manager.db.measurements import DistanceRow, SumRow

__all__ = ["note_unreachable", "refresh_distances", "refresh_volumes"]


def refresh_distances(tx: Transaction, agent_id: int, unit_ids: Collection[int]) -> None:
    """Make an agent's distances to some units anew."""
    newest: dict[int, SumRow] = {}
    for row in measurements.sums_of_agent(tx, agent_id, unit_ids):
        other = newest.get(row.unit_id)
        if other is None or _age(row) > _age(other):
            newest[row.unit_id] = row
    measurements.set_distances(
        tx,
        [
            DistanceRow(
                unit_id=row.unit_id,
                agent_id=agent_id,
                measured_ms=row.last_ms,
                round=row.round,
                kind=row.kind,
                lines=row.requests,
                bytes=row.response_bytes,
                ms=row.ms,
                ms_per_kb=row.ms * 1000 / row.response_bytes if row.response_bytes else None,
            )
            for row in newest.values()
        ],
    )


def refresh_volumes(tx: Transaction, round_number: int, unit_ids: Collection[int]) -> None:
    """Make the volumes of units that were finished in a round anew, where logs came."""
    measurements.set_volumes(tx, measurements.crawled_sums(tx, round_number, unit_ids))


def note_unreachable(
    tx: Transaction, agent_id: int, unit_ids: Collection[int], round_number: int, now_ms: int
) -> None:
    """Write down that a probe brought nothing back, so that no log need be waited for."""
    measurements.set_distances(
        tx,
        [
            DistanceRow(unit, agent_id, now_ms, round_number, "probe", 0, 0, 0, None)
            for unit in unit_ids
        ],
    )


def _age(row: SumRow) -> tuple[int, bool]:
    return row.round, row.kind == "crawl"
