"""Distances as people see them: the number, what it rests on, and what is wrong with it, in words.

Invariant: the number is always the sum of the times over the sum of the KBytes; whatever is odd
about it stands beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import Final

import numpy as np

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.measurement import measurements
from manager.db.measurement.measurements import DistanceRow
from manager.db.planning import missing_probes
from manager.db.planning.probes import cut_short
from manager.distance.measured_distance import Measured, State
from manager.distance.prediction import Model, Probes
from manager.distance.spread import LEAST_MS_PER_KB
from manager.message_fields import message_fields
from manager.operations.measurement.claims import Period, age_of, all_periods, reason_of
from manager.operations.measurement.distance_model import load_model
from manager.operations.policy import Policy
from shared.frozen import frozen
from shared.messages import Message
from shared.ratios import times_message, times_of

__all__ = ["DistanceView", "distances_of"]

PREDICTED_MOST: Final = 10
"""Of each unit, the nearest: of a thousand agents the others are of no interest."""


@message_fields
@frozen
class DistanceView:
    """Distance of a unit from an agent. ms_per_kb None: unreachable from there.

    state: unreachable, weak (too little came to rely on), measured, or predicted: then no agent
    measured it, kind is `prediction`, and off_by the factor within which two of three are.
    kind: its source, probe or crawl, in the time since_ms to measured_ms. lines: requests, of
    which `failed` had no answer. The quartiles are of single requests, ms per KByte.
    expected_ms_per_kb: what the distances of the others predict. outlier: it is far from that, or
    one request decides it. unreachable_since_ms: of the first measurement in a row that brought
    nothing. reason: all of this. said: what the agent said when it had finished. doubted:
    the claim is doubted, and ms_per_kb is what counts in its place; the other numbers are claimed.
    """

    unit_id: int
    agent_id: int
    ms_per_kb: float | None
    state: str
    kind: str
    round: int
    since_ms: int | None
    measured_ms: int | None
    lines: int
    failed: int
    bytes: int
    ms: int
    first_quartile: float | None
    median: float | None
    third_quartile: float | None
    outlier: bool
    unreachable_since_ms: int | None
    reason: Message
    said: Message | None
    expected_ms_per_kb: float | None = None
    off_by: float | None = None
    doubted: bool = False


@frozen
class _Found:
    """A distance that was measured. ms_per_kb: None: unreachable. explained: what the agent said of
    it, where that says why."""

    row: DistanceRow
    measured: Measured
    ms_per_kb: float | None
    said: Message | None
    explained: Message | None
    doubts: Message | None = None


def distances_of(tx: Transaction, unit_ids: Collection[int], policy: Policy) -> list[DistanceView]:
    """Return all distances to some units, by unit and agent, and then the nearest predicted."""
    said = measurements.reasons_said(tx, unit_ids)
    cut = cut_short(tx, unit_ids)
    periods = all_periods(tx)
    found = [
        _found(
            row,
            policy,
            said.get((row.unit_id, row.agent_id, row.round, row.kind)),
            is_cut=row.kind == "probe" and (row.unit_id, row.agent_id, row.round) in cut,
            doubts=_doubts(periods.get(row.agent_id, []), row),
        )
        for row in measurements.distances_of_units(tx, unit_ids)
    ]
    ids = sorted({*agents.ids_taking_part(tx), *(one.row.agent_id for one in found)})
    learned = load_model(tx, ids)
    if learned is None or not unit_ids:
        return [_view(one, None) for one in found]
    never = missing_probes.banned_pairs(tx, unit_ids)
    return _with_predictions(found, sorted(unit_ids), ids, learned.model, never)


def _with_predictions(
    found: Sequence[_Found],
    unit_ids: Sequence[int],
    ids: Sequence[int],
    model: Model,
    never: set[tuple[int, int]],
) -> list[DistanceView]:
    """Add the predictions of the model: beside measurements, and where there are none.

    never: (unit, agent) that may not be.
    """
    row_of = {agent: row for row, agent in enumerate(ids)}
    column_of = {unit: column for column, unit in enumerate(unit_ids)}
    reached = [one for one in found if one.ms_per_kb is not None]
    probes = Probes(
        np.array([row_of[one.row.agent_id] for one in reached], dtype=np.intp),
        np.array([column_of[one.row.unit_id] for one in reached], dtype=np.intp),
        np.array([one.ms_per_kb for one in reached], dtype=np.float64),
    )
    places = model.places(probes, len(unit_ids))
    predicted, off_by = model.predict(places), model.off_by(places)
    factors, odd = model.outliers(probes, len(unit_ids))
    beside = iter(zip(factors.tolist(), odd.tolist(), strict=True))
    views = [_view(one, None if one.ms_per_kb is None else next(beside)) for one in found]
    tried = never | {(one.row.unit_id, one.row.agent_id) for one in found}
    for unit, column in column_of.items():
        nearest = np.argsort(predicted[:, column], kind="stable").tolist()
        missing = (row for row in nearest if (unit, ids[row]) not in tried)
        views += [
            _predicted(unit, ids[row], float(predicted[row, column]), float(off_by[row, column]))
            for row in islice(missing, PREDICTED_MOST)
        ]
    return views


def _predicted(unit_id: int, agent_id: int, ms_per_kb: float, off_by: float) -> DistanceView:
    return DistanceView(
        unit_id=unit_id,
        agent_id=agent_id,
        ms_per_kb=ms_per_kb,
        state="predicted",
        kind="prediction",
        round=0,
        since_ms=None,
        measured_ms=None,
        lines=0,
        failed=0,
        bytes=0,
        ms=0,
        first_quartile=None,
        median=None,
        third_quartile=None,
        outlier=False,
        unreachable_since_ms=None,
        reason=Message("distance.predicted", factor=times_of(off_by)),
        said=None,
        off_by=off_by,
    )


def _doubts(periods: Sequence[Period], row: DistanceRow) -> Message | None:
    """Return why a distance is not believed as claimed; None: it is believed."""
    age = age_of(row.round, row.kind)
    return next((reason_of(one) for one in periods if one.covers(age)), None)


def _found(
    row: DistanceRow,
    policy: Policy,
    said: Message | None,
    *,
    is_cut: bool,
    doubts: Message | None,
) -> _Found:
    """Return a measurement. is_cut: the probe ended, or will end, before it saw all."""
    measured = Measured(
        lines=row.lines,
        failed=row.failed,
        size_bytes=row.bytes,
        elapsed_ms=row.ms,
        slowest_ms=row.slowest_ms,
        slowest_bytes=row.slowest_bytes,
        # A probe of fewer pages than its limit saw all that there is, where nothing cut it short;
        # so did a crawl.
        complete=row.kind == "crawl" or (row.lines < policy.probe_pages and not is_cut),
    )
    explains = is_cut or measured.state is State.UNREACHABLE
    ms_per_kb = row.ms_per_kb if doubts is not None else measured.ms_per_kb
    return _Found(row, measured, ms_per_kb, said, said if explains else None, doubts)


def _view(found: _Found, beside: tuple[float, bool] | None) -> DistanceView:
    """Return a distance for people.

    beside: by what factor it is more than the model expects, and whether that is odd; None: it
    expects nothing.
    """
    row, measured = found.row, found.measured
    expected, odd = None, False
    parts = [*measured.reasons]
    if found.explained is not None:
        parts.append(Message("distance.agent_said", words=found.explained))
    if found.doubts is not None:
        parts.append(Message("distance.doubted", why=found.doubts))
    if beside is not None and found.ms_per_kb is not None:
        factor, odd = beside
        expected = max(found.ms_per_kb, LEAST_MS_PER_KB) / factor
        if odd:
            code = "distance.outlier_farther" if factor > 1 else "distance.outlier_nearer"
            parts.append(Message(code, times=times_message(factor)))
    return DistanceView(
        unit_id=row.unit_id,
        agent_id=row.agent_id,
        ms_per_kb=found.ms_per_kb,
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
        outlier=odd or measured.one_line_decides or found.doubts is not None,
        unreachable_since_ms=row.unreachable_since_ms,
        reason=Message("distance.reason", parts=tuple(parts)),
        said=found.said,
        expected_ms_per_kb=expected,
        doubted=found.doubts is not None,
    )
