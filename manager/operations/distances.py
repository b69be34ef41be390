"""Distances as people see them: the number, what it rests on, and what is wrong with it, in words.

Invariant: the number is always the sum of the times over the sum of the KBytes; whatever is odd
about it stands beside it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from manager.db import measurements
from manager.db.engine import Transaction
from manager.db.measurements import DistanceRow
from manager.distance import Measured, State
from manager.operations.policy import Policy

__all__ = ["DistanceView", "distances_of"]


@dataclass(frozen=True, slots=True)
class DistanceView:
    """How far a unit is from an agent. ms_per_kb None: unreachable from there.

    state: unreachable, weak (too little came to rely on) or measured. kind: of what it was made,
    probe or crawl, in the time since_ms to measured_ms. lines: requests, of which `failed` had no
    answer. The quartiles are of single requests, ms per KByte. outlier: one request decides the
    distance. unreachable_since_ms: of the first measurement in a row that brought nothing. reason:
    all of this in words. said: what the agent said when it had finished.
    """

    unit_id: int
    agent_id: int
    ms_per_kb: float | None
    state: str
    kind: str
    round: int
    since_ms: int | None
    measured_ms: int
    lines: int
    failed: int
    bytes: int
    ms: int
    first_quartile: float | None
    median: float | None
    third_quartile: float | None
    outlier: bool
    unreachable_since_ms: int | None
    reason: str
    said: str


def distances_of(tx: Transaction, unit_ids: Collection[int], policy: Policy) -> list[DistanceView]:
    """Return all distances to some units, by unit and agent."""
    said = measurements.reasons_said(tx, unit_ids)
    return [
        _view(row, policy, said.get((row.unit_id, row.agent_id, row.round, row.kind), ""))
        for row in measurements.distances_of_units(tx, unit_ids)
    ]


def _view(row: DistanceRow, policy: Policy, said: str) -> DistanceView:
    measured = Measured(
        lines=row.lines,
        failed=row.failed,
        size_bytes=row.bytes,
        elapsed_ms=row.ms,
        slowest_ms=row.slowest_ms,
        slowest_bytes=row.slowest_bytes,
        # A probe that ended before its limit saw all that there is; so did a crawl.
        complete=row.kind == "crawl" or row.lines < policy.probe_pages,
    )
    unreachable = measured.state is State.UNREACHABLE
    return DistanceView(
        unit_id=row.unit_id,
        agent_id=row.agent_id,
        ms_per_kb=measured.ms_per_kb,
        state=measured.state.value,
        kind=row.kind,
        round=row.round,
        since_ms=row.since_ms,
        measured_ms=row.measured_ms,
        lines=row.lines,
        failed=row.failed,
        bytes=row.bytes,
        ms=row.ms,
        first_quartile=row.first_quartile,
        median=row.median,
        third_quartile=row.third_quartile,
        outlier=measured.one_line_decides,
        unreachable_since_ms=row.unreachable_since_ms,
        reason=f"{measured.reason}; the agent said: {said}"
        if said and unreachable
        else measured.reason,
        said=said,
    )
