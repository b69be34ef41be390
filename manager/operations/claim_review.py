"""Review of agents' claims: opens and ends doubts as reports come, and makes distances anew.

Invariants: each agent is compared over some units of its newest round (`SAMPLE` at most), so a
review costs the same however large the web is. Doubts begin and end with the age of claims, never
with a single unit; while the evidence is too little, the verdict stays. The manager's own clock
decides where it can (`clock_review`): what it confirms is not doubted, and no more than it allows
is believed. What a person believes (`believe_agent`) is history for what comes after.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from manager.db import agents, measurements, predictions, round_units, rounds
from manager.db.agents import AgentRow
from manager.db.engine import Database, Transaction
from manager.db.measurements import SumRow
from manager.distance import Claim, Doubt, Evidence, find_doubts, on_the_whole
from manager.errors import ConflictError, NotFoundError
from manager.operations.actor import Actor, note
from manager.operations.claims import (
    TIME_FAULTS,
    Period,
    age_of,
    claim_of,
    periods_of,
    references,
    written,
)
from manager.operations.clock_review import ManagerClock
from manager.operations.measuring import refresh_distances, refresh_volumes
from manager.operations.policy import Policy

__all__ = ["believe_agent", "review_agents"]

SAMPLE: Final = 300
ROUNDS_BACK: Final = 3
AGES_BACK: Final = 4
DRIFT_ROUNDS: Final = 10
"""Times that change by a little in each of so many rounds have changed by all of it."""
"""An agent that measured nothing for so long keeps its verdict."""
UNITS_AT_ONCE: Final = 5_000


def review_agents(tx: Transaction, rows: Iterable[AgentRow], policy: Policy) -> list[int]:
    """Review some agents; return those whose doubts began, ended or changed.

    The model of distances is forgotten then: it was learned from claims that count no more.
    """
    clock = ManagerClock(tx)
    changed = [row.id for row in rows if _review(tx, row, policy, clock)]
    if changed:
        predictions.forget_model(tx)
    return changed


def believe_agent(db: Database, name: str, actor: Actor, now_ms: int) -> None:
    """Take all that an agent has claimed as true; doubts are judged by that from now on.

    Raises NotFoundError, and ConflictError where nothing of it is doubted.
    """
    with db.write() as tx:
        row = agents.by_name(tx, name)
        if row is None:
            raise NotFoundError(f"agent {name[:253]}: there is none", see="agents list")
        periods = periods_of(row)
        if not periods:
            raise ConflictError(f"agent {name}: all that it claims is believed already")
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
        note(tx, now_ms, actor, "agent.believe", name, was=reason)


def _review(tx: Transaction, row: AgentRow, policy: Policy, clock: ManagerClock) -> bool:
    sample = _newest(tx, row.id)
    if not sample:
        return False
    age = age_of(sample[0].round, sample[0].kind)
    periods = periods_of(row)
    current = periods[-1] if periods and periods[-1].last_age is None else None
    if age <= row.believed_age:
        return False
    found = _doubts(tx, row, sample, periods, policy, has_own_level=row.believed_age > 0)
    if any(
        one.fault in TIME_FAULTS and one.evidence is Evidence.OTHERS for one in found or ()
    ) and (any(clock.confirms(row, one) for one in range(max(2, age - AGES_BACK), age))):
        found = _doubts(tx, row, sample, periods, policy, has_own_level=True)
    doubts, is_confirmed = clock.settle(row, age, found or ())
    if found is None and not doubts and not is_confirmed:
        return False
    past = periods[:-1] if current is not None else periods
    if doubts:
        first = current.first_age if current is not None else _began(tx, row, age, past)
        now = [*past, Period(first, None, tuple(doubts))]
    elif (
        current is None
        or current.first_age >= age
        or (is_confirmed and _is_confirmed(row, current, age, clock))
    ):
        now = past
    else:
        now = [*past, replace(current, last_age=age - 1)]
    news = _keep_times(row, now, age, clock)
    if _alike(now, periods):
        refresh_distances(tx, row.id, measurements.sums_of_agent(tx, row.id, news))
        return False
    agents.update(tx, row.id, doubts=written(now))
    _count_anew(tx, row.id, min(one.first_age for one in (*now, *periods)))
    clock.forget()
    return True


def _is_confirmed(row: AgentRow, current: Period, age: int, clock: ManagerClock) -> bool:
    """Return whether the clock contradicts no claim of the ages that are doubted, but confirms one.

    Then the agent was right from the first of them on.
    """
    first = max(current.first_age, age - AGES_BACK)
    before = [clock.settle(row, one, current.doubts) for one in range(first, age)]
    return all(is_confirmed or tuple(left) == current.doubts for left, is_confirmed in before)


def _keep_times(row: AgentRow, now: list[Period], age: int, clock: ManagerClock) -> set[int]:
    """Keep what the clock says of doubted times; return the units that it says something new of."""
    if not now or now[-1].last_age is not None or not now[-1].has(*TIME_FAULTS):
        return set()
    first = max(now[-1].first_age, age - AGES_BACK)
    return {unit for one in range(first, age + 1) for unit in clock.keep_times(row, one)}


def _newest(tx: Transaction, agent_id: int) -> list[SumRow]:
    """Return claims of the newest age that an agent has any of, the first of that age.

    Those of a crawl of few units come with the probes of its round.
    """
    last = rounds.last_number(tx)
    for number in range(last, max(-1, last - ROUNDS_BACK), -1):
        for kind in ("crawl", "probe"):
            found = measurements.sample_sums(tx, agent_id, number, kind, SAMPLE)
            if found and kind == "crawl" and len(found) < FEW:
                units = {one.unit_id for one in found}
                probed = measurements.sample_sums(tx, agent_id, number, "probe", FEW)
                found += [one for one in probed if one.unit_id not in units]
            if found:
                return found
    return []


def _doubts(
    tx: Transaction,
    row: AgentRow,
    sample: list[SumRow],
    periods: list[Period],
    policy: Policy,
    *,
    has_own_level: bool,
) -> list[Doubt] | None:
    own = {one.unit_id: claim for one in sample if (claim := claim_of(one)) is not None}
    ages = {one.unit_id: age_of(one.round, one.kind) for one in sample}
    newest: dict[int, tuple[int, Claim]] = {}
    oldest: dict[int, tuple[int, Claim]] = {}
    for one in measurements.sums_of_agent(tx, row.id, own):
        before, claim = age_of(one.round, one.kind), claim_of(one)
        unit, now = one.unit_id, ages[one.unit_id]
        if (
            claim is None
            or not row.history_age <= before < now
            or any(period.covers(before) for period in periods)
        ):
            continue
        if unit not in newest or newest[unit][0] < before:
            newest[unit] = before, claim
        is_recent = before >= now - 2 * DRIFT_ROUNDS
        if is_recent and (unit not in oldest or before < oldest[unit][0]):
            oldest[unit] = before, claim
    others = references(tx, row.id, own)
    found: list[Doubt] | None = None
    for earlier in (newest, oldest):
        found = find_doubts(
            own,
            others,
            {unit: claim for unit, (_, claim) in earlier.items()},
            on_the_whole(policy.distance_trust),
            periods[-1].doubts if periods and periods[-1].last_age is None else (),
            has_own_level=has_own_level,
        )
        if found is None or any(one.fault in TIME_FAULTS for one in found):
            break
    return found


def _began(tx: Transaction, row: AgentRow, age: int, past: list[Period]) -> int:
    """Return the age with which doubts begin: a crawl's with the probes of its round, if few.

    The control hosts of a round are too few to judge by, and are of the same agent and time.
    """
    before = age - 1
    if age % 2 == 0 or before <= row.believed_age or any(one.covers(before) for one in past):
        return age
    probed = measurements.sample_sums(tx, row.id, before // 2, "probe", FEW)
    return before if 0 < len(probed) < FEW else age


FEW: Final = 4


def _alike(now: list[Period], before: list[Period]) -> bool:
    """Return whether periods are the same, but for factors that hardly differ."""

    def shape(periods: list[Period]) -> list[object]:
        return [
            (one.first_age, one.last_age, [(d.fault, d.evidence) for d in one.doubts])
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
    """Make distances and volumes anew that come from an agent's claims of an age or newer."""
    number = first_age // 2
    units = measurements.units_since(tx, agent_id, number)
    for start in range(0, len(units), UNITS_AT_ONCE):
        part = units[start : start + UNITS_AT_ONCE]
        refresh_distances(tx, agent_id, measurements.sums_of_agent(tx, agent_id, part))
    for later in range(number, rounds.last_number(tx) + 1):
        finished = round_units.finished_by(tx, later, agent_id)
        for start in range(0, len(finished), UNITS_AT_ONCE):
            refresh_volumes(tx, later, finished[start : start + UNITS_AT_ONCE])
