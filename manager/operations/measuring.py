"""Make distances and volumes from what the logs summed up to.

Invariant: a distance is a function of the sums of its agent and unit, and a volume of the sums of
the agent that finished the unit; so the order in which logs and reports of finished units arrive
decides nothing. Only since when a unit is unreachable is remembered from one to the next.
- distance = sum of ms / sum of KBytes of the newest probe or crawl (of one round, the crawl).
- volume = KBytes of the newest crawl, as its finisher's log says.
A KByte is 1,000 bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from manager.db import measurements
from manager.db.engine import Transaction
from manager.db.measurements import DistanceRow, SumRow
from manager.distance import Spread, merged, ms_per_kbyte

__all__ = ["add_sums", "note_unreachable", "refresh_distances", "refresh_volumes"]


def add_sums(tx: Transaction, agent_id: int, rows: Sequence[SumRow]) -> list[SumRow]:
    """Add what a log of an agent says to what its earlier logs said. Keys must differ.

    Returns all that is known then of what the agent measured of these units.
    """
    before = {
        _key(row): row
        for row in measurements.sums_of_agent(tx, agent_id, {row.unit_id for row in rows})
    }
    now = {_key(row): _together(row, before.get(_key(row))) for row in rows}
    measurements.set_sums(tx, list(now.values()))
    return list((before | now).values())


def _key(row: SumRow) -> tuple[int, int, str]:
    return row.unit_id, row.round, row.kind


def _together(new: SumRow, old: SumRow | None) -> SumRow:
    if old is None:
        return new
    slowest = max(new, old, key=lambda row: row.slowest_ms)
    began = [row.first_ms for row in (new, old) if row.first_ms is not None]
    return replace(
        new,
        requests=new.requests + old.requests,
        pages=new.pages + old.pages,
        errors=new.errors + old.errors,
        request_bytes=new.request_bytes + old.request_bytes,
        response_bytes=new.response_bytes + old.response_bytes,
        ms=new.ms + old.ms,
        failed=new.failed + old.failed,
        spread=merged(Spread.of_text(new.spread), Spread.of_text(old.spread)).text,
        slowest_ms=slowest.slowest_ms,
        slowest_bytes=slowest.slowest_bytes,
        first_ms=min(began, default=None),
        last_ms=max(new.last_ms, old.last_ms),
    )


def refresh_distances(tx: Transaction, agent_id: int, sums: Iterable[SumRow]) -> None:
    """Make an agent's distances to some units anew from all its sums of them."""
    newest: dict[int, SumRow] = {}
    for row in sums:
        other = newest.get(row.unit_id)
        if other is None or _age(row) > _age(other):
            newest[row.unit_id] = row
    _set(tx, agent_id, [_distance(row) for row in newest.values()])


def _distance(row: SumRow) -> DistanceRow:
    quartiles = Spread.of_text(row.spread).quartiles
    return DistanceRow(
        unit_id=row.unit_id,
        agent_id=row.agent_id,
        since_ms=row.first_ms,
        measured_ms=row.last_ms,
        round=row.round,
        kind=row.kind,
        lines=row.requests,
        failed=row.failed,
        bytes=row.response_bytes,
        ms=row.ms,
        slowest_ms=row.slowest_ms,
        slowest_bytes=row.slowest_bytes,
        ms_per_kb=ms_per_kbyte(row.ms, row.response_bytes),
        first_quartile=quartiles.first if quartiles else None,
        median=quartiles.median if quartiles else None,
        third_quartile=quartiles.third if quartiles else None,
        unreachable_since_ms=None,
    )


def _set(tx: Transaction, agent_id: int, rows: Sequence[DistanceRow]) -> None:
    """Write distances of an agent down; what was unreachable before is so since then."""
    silent = {row.unit_id for row in rows if row.ms_per_kb is None}
    since = {
        row.unit_id: row.unreachable_since_ms
        for row in measurements.distances_of_units(tx, silent)
        if row.agent_id == agent_id and row.unreachable_since_ms is not None
    }
    measurements.set_distances(
        tx,
        [
            replace(row, unreachable_since_ms=since.get(row.unit_id, row.measured_ms))
            if row.ms_per_kb is None
            else row
            for row in rows
        ],
    )


def refresh_volumes(tx: Transaction, round_number: int, unit_ids: Collection[int]) -> None:
    """Make the volumes of units that were finished in a round anew, where logs came."""
    measurements.set_volumes(tx, measurements.crawled_sums(tx, round_number, unit_ids))


def note_unreachable(
    tx: Transaction, agent_id: int, unit_ids: Collection[int], round_number: int, now_ms: int
) -> None:
    """Write down that a probe brought nothing back, so that no log need be waited for."""
    _set(
        tx,
        agent_id,
        [
            DistanceRow(
                unit_id=unit,
                agent_id=agent_id,
                since_ms=None,
                measured_ms=now_ms,
                round=round_number,
                kind="probe",
                lines=0,
                failed=0,
                bytes=0,
                ms=0,
                slowest_ms=0,
                slowest_bytes=0,
                ms_per_kb=None,
                first_quartile=None,
                median=None,
                third_quartile=None,
                unreachable_since_ms=None,
            )
            for unit in unit_ids
        ],
    )


def _age(row: SumRow) -> tuple[int, bool]:
    return row.round, row.kind == "crawl"
