"""Make distances and volumes from what the logs summed up to.

Invariant: a distance is a function of the sums of its agent and unit, and a volume of the sums of
the agent that finished the unit; so the order in which logs and reports of finished units arrive
decides nothing. Only since when a unit is unreachable is remembered from one to the next.
- distance = sum of ms / sum of KBytes of the newest probe or crawl (of one round, the crawl).
- volume = KBytes of the newest crawl, as its finisher's log says.
A crawl that continued the probe of its agent has the sums of both, whatever came first (ADR 204).
A KByte is 1,000 bytes. Claims that are doubted move neither (`claims`); a single unit whose bytes a
line are far from what the others see counts within a bound.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.measurement import measurements
from manager.db.measurement.measurements import DistanceRow, SumRow
from manager.distance.line_sums import UNIT_COUNTS
from manager.distance.measured_distance import ms_per_kbyte
from manager.distance.spread import Spread, merged
from manager.operations.measurement.claimed_sizes import counted_size, size_evidence
from manager.operations.measurement.claims import (
    BYTE_FAULTS,
    Period,
    age_of,
    all_periods,
    claim_of,
    counted_ms,
    periods_of,
    put_right,
    references,
    with_fast_lines,
)

__all__ = [
    "add_sums",
    "counted_totals",
    "note_unreachable",
    "refresh_distances",
    "refresh_volumes",
]

SIZE_FACTOR: Final = 10.0
"""Bytes a line of a crawl over those of the others' probes: a crawl sees other pages."""
LOOKED_AT: Final = 50
"""Units of one agent that are compared with what the others see without further ado."""


def add_sums(
    tx: Transaction,
    agent_id: int,
    rows: Sequence[SumRow],
    probed: Collection[tuple[int, int]] = (),
) -> list[SumRow]:
    """Add the sums of an agent's log to the sums of its earlier logs. Keys must differ.

    probed: (unit, round) of crawls that continued the agent's probe, as the log says; said again it
    changes nothing. Returns all sums of the agent's measurements of these units after that.
    """
    wanted = {row.unit_id for row in rows} | {unit for unit, _ in probed}
    before = {_key(row): row for row in measurements.sums_of_agent(tx, agent_id, wanted)}
    new = {_key(row): row for row in rows}
    now = {key: _together(row, before.get(key)) for key, row in new.items()}
    counted = {(row.unit_id, row.round) for row in before.values() if row.with_probe}
    for unit, number in counted | set(probed):
        probe, crawl = (unit, number, "probe"), (unit, number, "crawl")
        # A probe that counts already is in the sums, except for its new lines.
        all_of_it = now.get(probe) or before.get(probe)
        part = new.get(probe) if (unit, number) in counted else all_of_it
        if part is None and (unit, number) in counted:
            continue
        whole = now.get(crawl) or before.get(crawl) or _nothing(agent_id, unit, number)
        if part is not None:
            whole = _together(replace(part, kind="crawl", clock_ms=None), whole)
        now[crawl] = replace(whole, with_probe=True)
    measurements.set_sums(tx, list(now.values()))
    return list((before | now).values())


def _nothing(agent_id: int, unit_id: int, round_number: int) -> SumRow:
    """Return the sums of a crawl of which no line has come."""
    counts: dict[str, Any] = dict.fromkeys((*UNIT_COUNTS, "slowest_ms", "slowest_bytes"), 0)
    return SumRow(
        agent_id=agent_id,
        unit_id=unit_id,
        round=round_number,
        kind="crawl",
        spread="",
        first_ms=None,
        last_ms=0,
        **counts,
    )


def _key(row: SumRow) -> tuple[int, int, str]:
    return row.unit_id, row.round, row.kind


def _together(new: SumRow, old: SumRow | None) -> SumRow:
    if old is None:
        return new
    slowest = max(new, old, key=lambda row: row.slowest_ms)
    began = [row.first_ms for row in (new, old) if row.first_ms is not None]
    added: dict[str, Any] = {name: getattr(new, name) + getattr(old, name) for name in UNIT_COUNTS}
    return replace(
        new,
        spread=merged(Spread.of_text(new.spread), Spread.of_text(old.spread)).text,
        slowest_ms=slowest.slowest_ms,
        slowest_bytes=slowest.slowest_bytes,
        first_ms=min(began, default=None),
        last_ms=max(new.last_ms, old.last_ms),
        with_probe=new.with_probe or old.with_probe,
        **added,
    )


def refresh_distances(tx: Transaction, agent_id: int, sums: Iterable[SumRow]) -> None:
    """Recompute an agent's distances to some units from all its sums of them.

    The newest one counts; of doubted ones the newest that the manager's clock knows.
    """
    periods = _periods(tx, agent_id)
    sound: dict[int, SumRow] = {}
    doubted: dict[int, SumRow] = {}
    for row in sums:
        if not row.requests and (row.odd_lines or row.with_probe):
            continue  # all that it says is impossible, or nothing: that is no distance
        if _period_of(periods, row) is None:
            other = sound.get(row.unit_id)
            if other is None or _age(row) > _age(other):
                sound[row.unit_id] = row
        else:
            other = doubted.get(row.unit_id)
            if other is None or _age_of_known(row) > _age_of_known(other):
                doubted[row.unit_id] = row
    alone = [with_fast_lines(row) for unit, row in doubted.items() if unit not in sound]
    evidence = size_evidence(tx, agent_id, [row.unit_id for row in alone])
    right = []
    for row in alone:
        period, known = _period_of(periods, row), evidence[row.unit_id]
        assert period is not None, "it is doubted"
        claim = claim_of(row)
        size = counted_size(claim, row.kind, period, known) if claim is not None else 1.0
        right.append(put_right(_distance(row), size, row.clock_ms, period, known.seen))
    _set(tx, agent_id, [*map(_distance, sound.values()), *right])


def _periods(tx: Transaction, agent_id: int) -> list[Period]:
    row = agents.by_id(tx, agent_id)
    return periods_of(row) if row is not None else []


def _period_of(periods: Sequence[Period], row: SumRow) -> Period | None:
    return next((one for one in periods if one.covers(_age(row))), None)


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
    )


def _set(tx: Transaction, agent_id: int, rows: Sequence[DistanceRow]) -> None:
    """Write distances of an agent down; units unreachable before keep the time since then."""
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
    """Compute the volumes of units that were finished in a round again, where logs came.

    The claims of agents under doubt count by these volumes, so they are computed again, too.
    """
    rows = measurements.crawled_sums(tx, round_number, unit_ids)
    whole = [with_fast_lines(row) for row in rows]
    volumes = {row.unit_id: row.response_bytes / 1000 for row in whole if row.odd_lines}
    carried = measurements.carried_sums(tx, round_number, [row.unit_id for row in rows])
    measurements.set_volumes(tx, rows, volumes | _volumes(tx, whole), carried)
    crawled = [row.unit_id for row in rows]
    for agent in agents.doubted(tx) if crawled else ():
        if any(period.has(*BYTE_FAULTS) for period in periods_of(agent)):
            refresh_distances(tx, agent.id, measurements.sums_of_agent(tx, agent.id, crawled))


def _volumes(tx: Transaction, rows: Sequence[SumRow]) -> dict[int, float]:
    """Return the KBytes that count of units where that is not what their finishers claim."""
    of_agent: dict[int, list[SumRow]] = defaultdict(list)
    for row in rows:
        of_agent[row.agent_id].append(row)
    found: dict[int, float] = {}
    for agent_id, mine in of_agent.items():
        periods = _periods(tx, agent_id)
        wrong = [
            (row, period)
            for row in mine
            if (period := _period_of(periods, row)) is not None and period.has(*BYTE_FAULTS)
        ]
        if wrong:
            found |= _put_right(tx, agent_id, wrong)
        else:
            found |= _bounded(tx, agent_id, mine)
    return found


def _put_right(
    tx: Transaction, agent_id: int, wrong: Sequence[tuple[SumRow, Period]]
) -> dict[int, float]:
    """Return volumes in the place of doubted ones: what a crawl before says, or the others."""
    units = [row.unit_id for row, _ in wrong]
    evidence = size_evidence(tx, agent_id, units)
    before = _crawled_before(tx, {row.unit_id: row.round for row, _ in wrong})
    found = {}
    for row, period in wrong:
        claim = claim_of(row)
        if row.unit_id in before:
            found[row.unit_id] = before[row.unit_id].response_bytes / 1000
        elif claim is not None:
            size = counted_size(claim, row.kind, period, evidence[row.unit_id])
            found[row.unit_id] = size / 1000
    return found


def _crawled_before(tx: Transaction, before: Mapping[int, int]) -> dict[int, SumRow]:
    """Return for each unit the newest crawl before a round that is not doubted."""
    periods = all_periods(tx)
    found: dict[int, SumRow] = {}
    for row in measurements.sums_of_units(tx, before):
        if (
            row.kind == "crawl"
            and row.round < before[row.unit_id]
            and row.response_bytes
            and row.unit_id not in found
            and _period_of(periods.get(row.agent_id, []), row) is None
        ):
            found[row.unit_id] = row
    return found


def _bounded(tx: Transaction, agent_id: int, rows: Sequence[SumRow]) -> dict[int, float]:
    """Return volumes bounded to a factor of those that the others see, where they are beyond it.

    Of many units only those are examined whose bytes a line are unlike those of most.
    """
    claims = {row.unit_id: claim for row in rows if (claim := claim_of(row)) is not None}
    sizes = {unit: claim.size_bytes / claim.lines for unit, claim in claims.items()}
    if len(sizes) > LOOKED_AT:
        usual = statistics.median(sizes.values())
        sizes = {
            unit: size
            for unit, size in sizes.items()
            if not usual / SIZE_FACTOR < size < usual * SIZE_FACTOR
        }
    found = {}
    for unit, reference in references(tx, agent_id, sizes).items() if sizes else ():
        least, most = (math.exp(one[2]) for one in (reference.low, reference.high))
        within = min(max(sizes[unit], least / SIZE_FACTOR), most * SIZE_FACTOR)
        if within != sizes[unit]:
            found[unit] = within * claims[unit].lines / 1000
    return found


def counted_totals(tx: Transaction, round_number: int) -> list[tuple[int, int, int]]:
    """Return (agent, ms, response bytes) that count of the crawl of a round."""
    rows = {row.id: row for row in agents.doubted(tx)}
    age = age_of(round_number, "crawl")
    return [
        (agent, counted_ms(rows, agent, age, ms), size)
        for agent, ms, size in measurements.agent_totals(tx, round_number, "crawl")
    ]


def note_unreachable(
    tx: Transaction, agent_id: int, unit_ids: Collection[int], round_number: int, now_ms: int
) -> None:
    """Write down that a probe brought nothing back, so that no log need be waited for."""
    silent = [DistanceRow(unit, agent_id, now_ms, round_number, "probe") for unit in unit_ids]
    _set(tx, agent_id, silent)


def _age_of_known(row: SumRow) -> tuple[bool, int]:
    """Return the age, greater where the manager's clock knows the time."""
    return row.clock_ms is not None, _age(row)


def _age(row: SumRow) -> int:
    return age_of(row.round, row.kind)
