"""Claims that are not believed: of an agent, in which rounds, why, and what counts in their place.

A claim is what an agent's logs say of a unit in one round and kind; its age is one number for both,
so that a probe comes before the crawl of its round. Claims of a doubted age are kept as they came
and move nothing: what counts is the agent's newest earlier claim of the unit, or, where there is
none, the claim put right by the factor that it is wrong by, and by what the others see.
Invariants: of an agent at most one period is open, the last. What counts is a function of the sums
and of the periods.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.measurement import measurements
from manager.db.measurement.measurements import DistanceRow, SumRow
from manager.distance.doubts import Claim, Doubt, Evidence, Fault, Reference, reference_of
from shared.frozen import frozen
from shared.messages import Message
from shared.ratios import times_message

__all__ = [
    "BYTE_FAULTS",
    "LINE_FAULTS",
    "TIME_FAULTS",
    "Evidence",
    "Fault",
    "Period",
    "age_of",
    "all_periods",
    "claim_of",
    "counted_ms",
    "doubts_of",
    "open_period",
    "other_claims",
    "periods_of",
    "power_of_ten",
    "put_right",
    "reason_of",
    "references",
    "round_and_kind",
    "with_fast_lines",
    "written",
]

NEAR_FACTOR: Final = 10.0
"""A corrected time counts unchanged within this factor of the times of the others."""
NEAREST: Final = 0.55
"""Of the expected: a scattered claim that is nearer is taken to be in a wrong unit. A claim that
says nothing counts as farther by this factor: a plan picks what looks nearer than it is."""
ODD_FACTOR: Final = 10.0
"""Bytes of a line that no line can say, over those of the unit's other lines: more are a lie."""
TIMES_MOST: Final = 50.0
"""Of times that are wrong by more nothing is left that could be put right."""
BORNE_OUT: Final = 1.6
"""A claim that differs by less from the manager's clock is as the clock says."""
CLOCK_NEAR: Final = 1.25
"""A time of one unit that differs by less from the manager's clock is as the clock says."""
LINE_FAULTS: Final = (Fault.LINES, Fault.SCATTERED_LINES)
BYTE_FAULTS: Final = (Fault.BYTES, Fault.SCATTERED_BYTES, *LINE_FAULTS)
"""Faults with which the bytes of units are wrong."""
TIME_FAULTS: Final = (Fault.TIMES, Fault.SCATTERED_TIMES)


@frozen
class Period:
    """Ages of which an agent's claims are doubted; last_age None: from then on.

    has_held: the doubts were found again in more evidence, so a person is notified. units: how many
    were looked at when they began.
    """

    first_age: int
    last_age: int | None
    doubts: tuple[Doubt, ...]
    has_held: bool = True
    units: int = 0

    def covers(self, age: int) -> bool:
        """Return whether claims of an age are doubted."""
        return self.first_age <= age and (self.last_age is None or age <= self.last_age)

    def factor(self, fault: Fault) -> float:
        """Return by how much claims are wrong in one way; 1 where they are not.

        Beside the others an agent's true level is not known: its factor is the power of ten next
        to the found one, as wrong units are. The manager's clock knows it within the waiting that
        it counts, so a power of ten near to its value is meant.
        """
        for one in self.doubts:
            if one.fault is fault:
                tens = power_of_ten(one.factor)
                is_level = one.evidence is Evidence.OTHERS
                is_near = one.evidence is Evidence.CLOCK and (
                    tens / BORNE_OUT <= one.factor <= tens * BORNE_OUT
                )
                return tens if is_level or is_near else one.factor
        return 1.0

    @property
    def level(self) -> float:
        """Return how much slower than the others the agent is in truth, as far as that is known."""
        return next((one.level for one in self.doubts if one.fault in TIME_FAULTS), 1.0)

    def has(self, *faults: Fault) -> bool:
        """Return whether claims are wrong in one of some ways."""
        return any(one.fault in faults for one in self.doubts)


def power_of_ten(factor: float) -> float:
    """Return the power of ten next to a factor, never 1."""
    exponent = round(math.log10(factor)) or int(math.copysign(1, math.log10(factor)))
    return float(10.0**exponent)


def age_of(round_number: int, kind: str) -> int:
    """Return the age of claims: greater is newer."""
    return 2 * round_number + (kind == "crawl")


def round_and_kind(age: int) -> tuple[int, str]:
    """Return the round and the kind of claims of an age."""
    return age // 2, "crawl" if age % 2 else "probe"


def periods_of(row: AgentRow) -> list[Period]:
    """Return when claims of an agent are doubted, oldest first."""
    return [
        Period(
            one["first"],
            one["last"],
            tuple(
                Doubt(Fault(fault), factor, units, Evidence(evidence), *level)
                for fault, factor, units, evidence, *level in one["doubts"]
            ),
            one.get("held", True),
            one.get("units", 0),
        )
        for one in (json.loads(row.doubts) if row.doubts else ())
    ]


def all_periods(tx: Transaction) -> dict[int, list[Period]]:
    """Return when claims are doubted, by agent; those that never were are left out."""
    return {row.id: periods_of(row) for row in agents.doubted(tx)}


def written(periods: Sequence[Period]) -> str:
    """Return periods as the column keeps them."""
    if not periods:
        return ""
    return json.dumps(
        [
            {
                "first": one.first_age,
                "last": one.last_age,
                "doubts": [
                    (doubt.fault, doubt.factor, doubt.units, doubt.evidence, doubt.level)
                    for doubt in one.doubts
                ],
                "held": one.has_held,
                "units": one.units,
            }
            for one in periods
        ]
    )


def open_period(row: AgentRow) -> Period | None:
    """Return the doubts that an agent is under now, or None."""
    periods = periods_of(row)
    return periods[-1] if periods and periods[-1].last_age is None else None


def doubts_of(row: AgentRow) -> tuple[Doubt, ...]:
    """Return the doubts that an agent is under now."""
    period = open_period(row)
    return () if period is None else period.doubts


def claim_of(row: SumRow | DistanceRow) -> Claim | None:
    """Return what logs say of a unit; None where nothing came back."""
    size, lines = _measured(row)
    return Claim(lines, size, row.ms) if size > 0 and lines > 0 else None


def with_fast_lines(row: SumRow) -> SumRow:
    """Return sums with the lines that were only too fast to be true, where their bytes may be.

    An agent that logs no times logs large pages faster than any line; without them a unit would
    look too small.
    """
    if not row.odd_lines or row.requests <= row.failed:
        return row
    usual = row.response_bytes / (row.requests - row.failed)
    if row.odd_bytes > ODD_FACTOR * usual * row.odd_lines:
        return row
    return replace(
        row,
        requests=row.requests + row.odd_lines,
        response_bytes=row.response_bytes + row.odd_bytes,
        ms=row.ms + row.odd_ms,
    )


def _measured(row: SumRow | DistanceRow) -> tuple[int, int]:
    if isinstance(row, SumRow):
        return row.response_bytes, row.requests - row.failed
    return row.bytes, row.lines - row.failed


def references(
    tx: Transaction, agent_id: int, unit_ids: Collection[int], *, kind: str = ""
) -> dict[int, Reference]:
    """Return what the other agents say of units; see `other_claims`."""
    of_unit = other_claims(tx, agent_id, unit_ids, kind=kind)
    found = {unit: reference_of(claims) for unit, claims in of_unit.items()}
    return {unit: one for unit, one in found.items() if one is not None}


def other_claims(
    tx: Transaction, agent_id: int, unit_ids: Collection[int], *, kind: str = ""
) -> dict[int, list[Claim]]:
    """Return the newest claims of the other agents by unit; agents under doubt have no say.

    kind: only what they say of whole units that they probed, or crawled.
    """
    doubted = {row.id for row in agents.doubted(tx) if open_period(row) is not None}
    rows = [
        row
        for row in measurements.distances_of_units(tx, unit_ids)
        if row.agent_id != agent_id
        and row.agent_id not in doubted
        and row.kind == (kind or row.kind)
    ]
    if kind and rows:
        since = min(row.round for row in rows)
        whole = measurements.keys_of_whole_sums(tx, unit_ids, since)
        rows = [row for row in rows if (row.unit_id, row.agent_id, row.round, row.kind) in whole]
    of_unit: dict[int, list[Claim]] = {}
    for row in rows:
        claim = claim_of(row)
        if claim is not None:
            of_unit.setdefault(row.unit_id, []).append(claim)
    return of_unit


def put_right(
    row: DistanceRow,
    size: float,
    clock_ms: int | None,
    period: Period,
    reference: Reference | None,
) -> DistanceRow:
    """Return a doubted distance with the number that counts; all else stays as claimed.

    size: the bytes that count. clock_ms: what the manager's clock leaves for the claimed time;
    None: it cannot tell.
    """
    claim = claim_of(row)
    if claim is None:
        return row
    elapsed_ms = claim.elapsed_ms / period.factor(Fault.TIMES)
    if period.has(*TIME_FAULTS):
        if clock_ms is not None:
            if not _is_borne_out(elapsed_ms, clock_ms, period):
                elapsed_ms = clock_ms
        elif reference is not None:
            expected_ms = reference.ms_per_kb * period.level * size / 1000
            elapsed_ms = _put_right_ms(elapsed_ms, expected_ms, period)
    return replace(
        row,
        ms_per_kb=elapsed_ms * 1000 / size,
        first_quartile=None,
        median=None,
        third_quartile=None,
    )


def _is_borne_out(elapsed_ms: float, clock_ms: float, period: Period) -> bool:
    """Return whether a time that a power of ten was taken out of is as the clock says.

    It is exact then. The clock counts what its agent waited, too.
    """
    factor = period.factor(Fault.TIMES)
    if not period.has(Fault.TIMES) or factor != power_of_ten(factor):
        return False
    return clock_ms / CLOCK_NEAR <= elapsed_ms <= clock_ms * CLOCK_NEAR


def _put_right_ms(elapsed_ms: float, expected_ms: float, period: Period) -> float:
    """Return what counts of a time that the factor of a period was taken out of.

    It is unknown which scattered times are true. A long one counts as it came, for its agent only
    gets less by it. A short one counts in the unit in which it is least near: the claim that looks
    nearest is the worst lie.
    """
    if period.has(Fault.SCATTERED_TIMES):
        if not elapsed_ms:
            return expected_ms / NEAREST
        least_ms = expected_ms * NEAREST
        return elapsed_ms * 10.0 ** max(0, math.ceil(math.log10(least_ms / elapsed_ms)))
    factor = period.factor(Fault.TIMES)
    is_lost = not 1 / TIMES_MOST <= factor <= TIMES_MOST
    is_near = expected_ms / NEAR_FACTOR <= elapsed_ms <= expected_ms * NEAR_FACTOR
    return expected_ms / NEAREST if is_lost or not is_near else elapsed_ms


def counted_ms(rows: Mapping[int, AgentRow], agent_id: int, age: int, claimed_ms: int) -> int:
    """Return what counts of the time that an agent claims for all units of an age together."""
    row = rows.get(agent_id)
    for period in periods_of(row) if row is not None else ():
        if period.covers(age):
            return round(claimed_ms / period.factor(Fault.TIMES))
    return claimed_ms


def reason_of(period: Period) -> Message:
    """Return why claims are doubted."""
    found = tuple(map(_doubt_message, period.doubts))
    return found[0] if len(found) == 1 else Message("measurement.doubts", doubts=found)


def _doubt_message(doubt: Doubt) -> Message:
    """Return a doubt: of which claims, in which direction they are off, beside what."""
    claims = doubt.fault.removeprefix("scattered-")
    if doubt.fault != claims:
        code = f"measurement.doubt_{claims}_scattered_{doubt.evidence}"
        return Message(code, units=doubt.units)
    ways = ("longer", "shorter") if doubt.fault is Fault.TIMES else ("more", "fewer")
    return Message(
        f"measurement.doubt_{claims}_{ways[doubt.factor <= 1]}_{doubt.evidence}",
        units=doubt.units,
        times=times_message(doubt.factor),
    )
