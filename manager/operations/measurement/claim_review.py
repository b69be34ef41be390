"""Review of agents' claims: opens and ends doubts as reports come, and recomputes distances.

Invariants: each agent is compared over a sample of its newest claims (`claim_samples`). Doubts
count at once. A person is notified once they have held: strong ones in twice as much evidence or
when nothing more comes of the round, others in another round. Doubts begin and end with the age of
claims, never with a single unit; while the evidence is too little, the verdict stays. The manager's
own clock decides where it can (`claimed_time_review`): claims that it confirms are not doubted, and
no more than it allows is believed. Claims that a person believes (`believe_agent`) are history for
later ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from manager.db.engine import Database, Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.measurement import measurements, predictions
from manager.db.rounds import round_units, rounds
from manager.distance.distance_bounds import overall_factor
from manager.distance.doubts import Claim, Doubt, Evidence, Fault, find_doubts
from manager.distance.line_counts import find_line_doubt, with_right_lines
from manager.errors import ConflictError
from manager.operations.actor import Actor, note
from manager.operations.identity.enrolment import agent_named
from manager.operations.measurement.claim_samples import (
    FEW,
    EarlierClaim,
    Sample,
    changes_of_others,
    crawled_before,
    earlier_claims,
    line_changes_of_others,
    line_ranges,
    newest_sample,
)
from manager.operations.measurement.claimed_time_review import ManagerClock
from manager.operations.measurement.claims import (
    TIME_FAULTS,
    Period,
    age_of,
    doubts_of,
    periods_of,
    references,
    round_and_kind,
    written,
)
from manager.operations.measurement.distances import refresh_distances, refresh_volumes
from manager.operations.policy import Policy

__all__ = ["believe_agent", "review_agents"]

AGES_BACK: Final = 4
STRONG_FACTOR: Final = 8.0
STRONG_UNITS: Final = 8
"""Units of which the clock says something; of fewer a slow minute may speak."""
UNITS_ENOUGH: Final = 100
"""Doubts about so many units need not be found again."""
UNITS_AT_ONCE: Final = 5_000


def review_agents(
    tx: Transaction, rows: Iterable[AgentRow], policy: Policy, now_ms: int
) -> list[int]:
    """Review some agents; return those whose doubts began, ended or changed.

    The model of distances is forgotten then: it was learned from claims that count no more.
    """
    clock = ManagerClock(tx)
    changed = [row.id for row in rows if _review(tx, row, policy, clock, now_ms)]
    if changed:
        predictions.forget_model(tx)
    return changed


def believe_agent(db: Database, name: str, actor: Actor, now_ms: int) -> None:
    """Take all that an agent has claimed as true; doubts are judged by that from now on.

    Raises NotFoundError, and ConflictError where nothing of it is doubted.
    """
    with db.write() as tx:
        row = agent_named(tx, name, see="agents list")
        periods = periods_of(row)
        if not periods:
            raise ConflictError("measurement.not_doubted", agent=name)
        newest = age_of(rounds.last_number(tx), "crawl")
        reason = row.suspect_reason
        agents.update(
            tx,
            row.id,
            doubts="",
            believed_age=newest,
            history_age=min(one.first_age for one in periods),
            suspect_since_ms=None,
            suspect_reason="",
        )
        _count_anew(tx, row.id, min(one.first_age for one in periods))
        predictions.forget_model(tx)
        note(tx, now_ms, actor, "agent.clear-doubts", name, was=reason)


def _review(
    tx: Transaction, row: AgentRow, policy: Policy, clock: ManagerClock, now_ms: int
) -> bool:
    late_ms = now_ms - round(policy.log_timeout_s * 1000)
    sample = newest_sample(tx, row.id, late_ms)
    if sample is None:
        return False
    age = sample.age
    periods = periods_of(row)
    current = periods[-1] if periods and periods[-1].last_age is None else None
    if age <= row.believed_age:
        return False
    found = _doubts(tx, row, sample, periods, policy, late_ms, has_own_level=row.believed_age > 0)
    if any(
        one.fault in TIME_FAULTS and one.evidence is Evidence.OTHERS for one in found or ()
    ) and (any(clock.confirms(row, one) for one in range(max(2, age - AGES_BACK), age))):
        found = _doubts(tx, row, sample, periods, policy, late_ms, has_own_level=True)
    doubts, is_confirmed = clock.settle(row, age, found or ())
    if found is None and not doubts and not is_confirmed:
        return False
    past = periods[:-1] if current is not None else periods
    if doubts:
        first = current.first_age if current is not None else _began(tx, row, age, past)
        now = [*past, _period(tx, row.id, current, first, sample, doubts)]
    elif (
        current is None
        or current.first_age >= age
        or not (left := _left_of(row, current, age, clock, is_confirmed=is_confirmed))
    ):
        now = past
    else:
        now = [*past, replace(current, doubts=left, last_age=age - 1)]
    news = _keep_times(row, now, age, clock)
    if _alike(now, periods):
        refresh_distances(tx, row.id, measurements.sums_of_agent(tx, row.id, news))
        return False
    agents.update(tx, row.id, doubts=written(now))
    _count_anew(tx, row.id, min(one.first_age for one in (*now, *periods)))
    clock.forget()
    return True


def _left_of(
    row: AgentRow, current: Period, age: int, clock: ManagerClock, *, is_confirmed: bool
) -> tuple[Doubt, ...]:
    """Return the doubts of a period that ends which stand for its own ages.

    The clock confirms times, and knows nothing of bytes and lines.
    """
    if not is_confirmed or not _is_confirmed(row, current, age, clock):
        return current.doubts
    return tuple(one for one in current.doubts if one.fault not in TIME_FAULTS)


def _is_confirmed(row: AgentRow, current: Period, age: int, clock: ManagerClock) -> bool:
    """Return whether the clock contradicts no claim of the ages that are doubted.

    It confirms the newest, so the agent was right from the first of them on.
    """
    first = max(current.first_age, age - AGES_BACK)
    return not any(clock.contradicts(row, one, current.doubts) for one in range(first, age))


def _keep_times(row: AgentRow, now: list[Period], age: int, clock: ManagerClock) -> set[int]:
    """Keep what the clock says of doubted times; return the units that it says something new of."""
    if not now or now[-1].last_age is not None or not now[-1].has(*TIME_FAULTS):
        return set()
    first = max(now[-1].first_age, age - AGES_BACK)
    return {unit for one in range(first, age + 1) for unit in clock.keep_times(row, one)}


def _period(
    tx: Transaction,
    agent_id: int,
    current: Period | None,
    first_age: int,
    sample: Sample,
    doubts: Sequence[Doubt],
) -> Period:
    """Return the open period of doubts, new or continued."""
    count = len(sample.sums)
    units = count if current is None else current.units
    number, kind = round_and_kind(sample.age)
    has_held = current is not None and (current.has_held or current.first_age // 2 < number)
    if not has_held and any(map(_is_strong, doubts)):
        has_held = (
            count >= UNITS_ENOUGH
            or (current is not None and count >= 2 * units)
            or not measurements.has_open_units(tx, agent_id, number, kind)
        )
    return Period(first_age, None, tuple(doubts), has_held, units)


def _is_strong(doubt: Doubt) -> bool:
    """Return whether a doubt is hardly chance, so that a person hears of it in its first round.

    A night may be slow, some hosts slower than others, and some may have other pages than before.
    """
    if doubt.evidence is Evidence.CLOCK:
        return doubt.units >= STRONG_UNITS
    match doubt.fault:
        case Fault.TIMES:
            return not 1 / STRONG_FACTOR < doubt.factor < STRONG_FACTOR
        case Fault.SCATTERED_TIMES | Fault.LINES | Fault.SCATTERED_LINES:
            return False
        case Fault.SCATTERED_BYTES:
            return doubt.evidence is Evidence.OTHERS
        case Fault.BYTES:
            return True


def _doubts(
    tx: Transaction,
    row: AgentRow,
    sample: Sample,
    periods: list[Period],
    policy: Policy,
    late_ms: int,
    *,
    has_own_level: bool,
) -> list[Doubt] | None:
    number, kind = round_and_kind(sample.age)
    lines, own = _line_doubt(tx, row, sample, late_ms)
    sizes = crawled_before(tx, own, number) if kind == "crawl" else {}
    newest, oldest = earlier_claims(tx, row, sample, periods)
    if kind == "probe":
        sizes |= {unit: one.claim for unit, one in newest.items() if one.kind == kind}
    others, alike = references(tx, row.id, own), references(tx, row.id, own, kind=kind)

    def compared(
        earlier: Mapping[int, EarlierClaim], usual: tuple[float, float]
    ) -> list[Doubt] | None:
        return find_doubts(
            own,
            others,
            {unit: one.claim for unit, one in earlier.items()},
            overall_factor(policy.distance_outlier_factor),
            periods[-1].doubts if periods and periods[-1].last_age is None else (),
            has_own_level=has_own_level,
            whole=sample.whole,
            alike=alike,
            sizes_before=sizes,
            usual=usual,
        )

    found: list[Doubt] | None = None
    for earlier in (newest, oldest):
        found = compared(earlier, (0.0, 0.0))
        if any(
            one.fault in TIME_FAULTS and one.evidence is Evidence.HISTORY for one in found or ()
        ):
            found = compared(earlier, changes_of_others(tx, row, number, late_ms))
        if found is None or any(one.fault in TIME_FAULTS for one in found):
            break
    return found if lines is None else [*(found or ()), lines]


def _line_doubt(
    tx: Transaction, row: AgentRow, sample: Sample, late_ms: int
) -> tuple[Doubt | None, dict[int, Claim]]:
    """Return what is wrong with how many lines an agent logs, and its claims with right ones."""
    if not sample.whole:
        return None, sample.claims
    number, kind = round_and_kind(sample.age)
    claims = {
        one.unit_id: sample.claims[one.unit_id]
        for one in sample.sums
        if one.kind == kind and one.unit_id in sample.claims
    }
    ranges = line_ranges(tx, row.id, claims, number, kind)
    own = {unit: one.lines for unit, one in claims.items()}
    standing = doubts_of(row)
    found = find_line_doubt(own, ranges, standing)
    if found is not None and kind == "crawl":
        usual = line_changes_of_others(tx, row.id, number, late_ms)
        found = find_line_doubt(own, ranges, standing, usual)
    if found is None:
        return None, sample.claims
    return found, with_right_lines(sample.claims, ranges, found)


def _began(tx: Transaction, row: AgentRow, age: int, past: list[Period]) -> int:
    """Return the age with which doubts begin: a crawl's with the probes of its round, if few.

    The control hosts of a round are too few to judge by, and are of the same agent and time.
    """
    before = age - 1
    if age % 2 == 0 or before <= row.believed_age or any(one.covers(before) for one in past):
        return age
    probed = measurements.sample_sums(tx, row.id, before // 2, "probe", FEW)
    return before if 0 < len(probed) < FEW else age


def _alike(now: list[Period], before: list[Period]) -> bool:
    """Return whether periods are the same, but for factors that hardly differ."""

    def shape(periods: list[Period]) -> list[object]:
        return [
            (
                one.first_age,
                one.last_age,
                one.has_held,
                [(d.fault, d.evidence) for d in one.doubts],
            )
            for one in periods
        ]

    if shape(now) != shape(before):
        return False
    factors = [
        (d.factor, e.factor)
        for one, other in zip(now, before, strict=True)
        for d, e in zip(one.doubts, other.doubts, strict=True)
    ]
    return all(0.8 <= first / second <= 1.25 for first, second in factors)


def _count_anew(tx: Transaction, agent_id: int, first_age: int) -> None:
    """Recompute distances and volumes that come from an agent's claims of an age or newer."""
    number = first_age // 2
    units = measurements.units_since(tx, agent_id, number)
    for start in range(0, len(units), UNITS_AT_ONCE):
        part = units[start : start + UNITS_AT_ONCE]
        refresh_distances(tx, agent_id, measurements.sums_of_agent(tx, agent_id, part))
    for later in range(number, rounds.last_number(tx) + 1):
        finished = round_units.finished_by(tx, later, agent_id)
        for start in range(0, len(finished), UNITS_AT_ONCE):
            refresh_volumes(tx, later, finished[start : start + UNITS_AT_ONCE])
