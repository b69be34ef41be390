"""Samples of an agent's claims, and what they are compared with: earlier ones, and other crawls.

Invariants: a sample has `SAMPLE` units at most, so a review costs the same however large the web
is. A unit that is still being fetched, or whose log is not all in, is in it only where too few are
over, for its first pages are unlike all of them; such a sample says something on the whole only.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.measurement import measurements
from manager.db.measurement.measurements import SumRow
from manager.db.rounds import rounds
from manager.distance.doubts import OTHERS_LEAST, Claim, Evidence, change_of_times, usual_changes
from manager.distance.line_counts import LineRange, change_of_lines
from manager.operations.measurement.claims import (
    Period,
    age_of,
    all_periods,
    claim_of,
    other_claims,
    periods_of,
)
from shared.frozen import frozen

__all__ = [
    "FEW",
    "EarlierClaim",
    "Sample",
    "changes_of_others",
    "crawled_before",
    "earlier_claims",
    "line_changes_of_others",
    "line_ranges",
    "newest_sample",
]

SAMPLE: Final = 300
FEW: Final = 4
UNDER_WAY_LEAST: Final = 12
"""Units under way that are compared on the whole, where fewer than `FEW` are finished."""
ROUNDS_BACK: Final = 3
"""An agent that measured nothing for so long keeps its verdict."""
DRIFT_ROUNDS: Final = 10
"""Times that change by a little in each of so many rounds have changed by all of it."""
CRAWLS_BACK: Final = 10
OTHERS_MOST: Final = 12
"""Other agents whose changes are compared; more would change no median."""
OTHERS_LOOKED_AT: Final = 200
"""Agents that are asked for a change, of which many know of none."""


@frozen
class Sample:
    """Claims of an agent's newest age. whole: of units that are over, with all their lines."""

    sums: list[SumRow]
    whole: bool

    @property
    def age(self) -> int:
        """Return the age; that of a crawl, if probes of its round are with it."""
        return age_of(self.sums[0].round, self.sums[0].kind)

    @property
    def claims(self) -> dict[int, Claim]:
        """Return what is claimed, by unit."""
        return {one.unit_id: claim for one in self.sums if (claim := claim_of(one)) is not None}


@frozen
class EarlierClaim:
    """An agent's claim of a unit in an age before."""

    age: int
    kind: str
    claim: Claim


def earlier_claims(
    tx: Transaction,
    row: AgentRow,
    sample: Sample,
    periods: Sequence[Period],
) -> tuple[dict[int, EarlierClaim], dict[int, EarlierClaim]]:
    """Return an agent's newest earlier claims of units, and its oldest of some rounds."""
    newest: dict[int, EarlierClaim] = {}
    oldest: dict[int, EarlierClaim] = {}
    ages = {one.unit_id: age_of(one.round, one.kind) for one in sample.sums}
    for one in measurements.sums_of_agent(tx, row.id, ages):
        before, claim = age_of(one.round, one.kind), claim_of(one)
        unit, now = one.unit_id, ages[one.unit_id]
        if (
            claim is None
            or not row.history_age <= before < now
            or any(period.covers(before) for period in periods)
        ):
            continue
        if unit not in newest or newest[unit].age < before:
            newest[unit] = EarlierClaim(before, one.kind, claim)
        is_recent = before >= now - 2 * DRIFT_ROUNDS
        if is_recent and (unit not in oldest or before < oldest[unit].age):
            oldest[unit] = EarlierClaim(before, one.kind, claim)
    return newest, oldest


def changes_of_others(
    tx: Transaction, row: AgentRow, number: int, late_ms: int
) -> tuple[float, float]:
    """Return how the times of the other agents have changed in a round, as natural logarithms."""
    changes = []
    for other in _others_in(tx, row.id, number, ("probe", "crawl")):
        sample = newest_sample(tx, other.id, late_ms)
        if sample is None or sample.age // 2 != number:
            continue
        newest, _ = earlier_claims(tx, other, sample, periods_of(other))
        change = change_of_times(sample.claims, {unit: one.claim for unit, one in newest.items()})
        if change is not None:
            changes.append(change)
        if len(changes) == OTHERS_MOST:
            break
    return usual_changes(changes)


def line_ranges(
    tx: Transaction, agent_id: int, claims: Mapping[int, Claim], number: int, kind: str
) -> dict[int, LineRange]:
    """Return how many lines units have that an agent probed or crawled in a round.

    A crawl is held against the crawl before, whoever made it; where there is none, it has at least
    as many lines as the others' probes, which have a limit.
    """
    found: dict[int, LineRange] = {}
    for unit, probed in other_claims(tx, agent_id, claims, kind="probe").items():
        if len(probed) >= OTHERS_LEAST:
            lines = sorted(one.lines for one in probed)
            low, high = lines[(len(lines) - 1) // 2], lines[len(lines) // 2]
            most = float(high) if kind == "probe" else math.inf
            found[unit] = LineRange(low, most, Evidence.OTHERS)
    if kind == "crawl":
        for unit, crawl in crawled_before(tx, claims, number).items():
            found[unit] = LineRange(crawl.lines, crawl.lines, Evidence.HISTORY)
    return found


def line_changes_of_others(
    tx: Transaction, agent_id: int, number: int, late_ms: int
) -> tuple[float, float]:
    """Return how the lines of the other agents' crawls have changed, as natural logarithms."""
    changes = []
    for other in _others_in(tx, agent_id, number, ("crawl",)):
        sample = newest_sample(tx, other.id, late_ms)
        if sample is None or not sample.whole or sample.age != age_of(number, "crawl"):
            continue
        before = crawled_before(tx, sample.claims, number)
        change = change_of_lines(
            {unit: one.lines for unit, one in sample.claims.items()},
            {unit: one.lines for unit, one in before.items()},
        )
        if change is not None:
            changes.append(change)
        if len(changes) == OTHERS_MOST:
            break
    return usual_changes(changes)


def _others_in(
    tx: Transaction, agent_id: int, number: int, kinds: Collection[str]
) -> list[AgentRow]:
    """Return agents beside one that probed or crawled in a round; of very many, some."""
    found = measurements.agents_in(tx, number, kinds, OTHERS_LOOKED_AT + 1)
    rows = agents.by_ids(tx, found)
    return [rows[other] for other in found if other != agent_id]


def newest_sample(tx: Transaction, agent_id: int, late_ms: int) -> Sample | None:
    """Return claims of the newest age that an agent has any of; None: there are none lately.

    Those of a crawl of few units come with the probes of its round.
    """
    last = rounds.last_number(tx)
    for number in range(last, max(-1, last - ROUNDS_BACK), -1):
        for kind in ("crawl", "probe"):
            found = measurements.whole_sums(tx, agent_id, number, kind, SAMPLE, late_ms)
            whole = len(found) >= FEW
            if not whole:
                under_way = measurements.sample_sums(tx, agent_id, number, kind, SAMPLE)
                if len(under_way) >= UNDER_WAY_LEAST:
                    return Sample(under_way, whole=False)
            if found and kind == "crawl" and not whole:
                units = {one.unit_id for one in found}
                probed = measurements.whole_sums(tx, agent_id, number, "probe", FEW, late_ms)
                found += [one for one in probed if one.unit_id not in units]
            if found:
                return Sample(found, whole=True)
    return None


def crawled_before(tx: Transaction, unit_ids: Collection[int], number: int) -> dict[int, Claim]:
    """Return the newest claims of units that were crawled in rounds before, whoever did it."""
    periods = all_periods(tx)
    rows = measurements.crawls_of_units(tx, unit_ids, number - CRAWLS_BACK, number - 1)
    return {
        one.unit_id: claim
        for one in rows
        if (claim := claim_of(one)) is not None
        and not any(
            period.covers(age_of(one.round, one.kind)) for period in periods.get(one.agent_id, [])
        )
    }
