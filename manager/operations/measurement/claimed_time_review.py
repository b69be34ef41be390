"""Review of claimed times by the manager's own clock: what it confirms, and what it contradicts.

Invariant: only agents under no doubt say how the clock follows from claims, and two at least. Where
waiting hides each unit, all units of the agent together may still confirm its claims (`clock_fit`).
What the clock cannot tell at all changes no verdict but one: times that are far from the others'
only in part are no evidence, for so are those of an agent in another country.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from manager.db.engine import Transaction
from manager.db.fleet import agents
from manager.db.fleet.agents import AgentRow
from manager.db.measurement import measurements
from manager.db.ownership.right_times import (
    RightTime,
    clock_times,
    probe_times,
    right_times,
    set_clock_times,
)
from manager.distance.clock_evidence import Pace, Timed, find_pace
from manager.distance.clock_fit import ClockFit, Fits, fit_claims
from manager.distance.doubts import Doubt, Evidence, Fault
from manager.distance.fetch_windows import FetchInterval
from manager.operations.measurement.claims import (
    TIME_FAULTS,
    doubts_of,
    open_period,
    references,
    round_and_kind,
)
from manager.operations.ownership.agent_capacity import capacity_of

__all__ = ["ManagerClock"]

INTERVALS_MOST: Final = 600
KINDS: Final = ("probe", "crawl")
AGENTS: Final = 12
"""So many believed agents say enough of how the clock follows from claims."""
AGENTS_LOOKED_AT: Final = 200
"""Of those that measured in a round, to find so many: the clock knows nothing of some."""
NEVER_RESTS: Final = 0.9
WRONG_SHARE: Final = 0.15
"""Of the windows: where more are too short, what they lack is held against the others' times."""
SCATTERED_SHARE: Final = 0.75
"""Of the windows: where fewer are off, the others are not, and no factor holds for all."""


class ManagerClock:
    """The verdicts of the clock on claims in one transaction; nothing is read twice."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._intervals: dict[tuple[int, int, str], list[FetchInterval]] = {}
        self._paces: dict[tuple[int, tuple[int, ...]], Pace | None] = {}
        self._verdicts: dict[tuple[int, int, str], Timed | None] = {}
        self._believed: dict[int, list[int]] = {}
        self._line_factors: dict[int, float] = {}

    def forget(self) -> None:
        """Forget who is believed: verdicts have changed."""
        self._believed.clear()
        self._verdicts.clear()

    def settle(self, row: AgentRow, age: int, doubts: Sequence[Doubt]) -> tuple[list[Doubt], bool]:
        """Return the doubts about an agent's claims of an age that the clock leaves or adds.

        The second: the clock confirms the claimed times, whatever else speaks against them. What
        the clock once found stands until the clock says otherwise.
        """
        self._count_lines(row.id, doubts)
        timed = self._timed(row, *round_and_kind(age))
        others = [one for one in doubts if one.fault not in TIME_FAULTS]
        times = next((one for one in doubts if one.fault in TIME_FAULTS), None)
        if timed is None:
            fits = Fits.UNKNOWN if times is None else self._fits(row, age)
            if fits is Fits.CONFIRMED:
                return others, True
            if times is not None and _may_be_elsewhere(times, fits):
                times = None
            if times is None or times.evidence is Evidence.OTHERS:
                times = self._found(row) or times
            return [*([] if times is None else [times]), *others], False
        if self._is_right(row, age, timed, times or self._found(row)):
            return others, True
        if times is None or times.evidence is not Evidence.HISTORY:
            scattered = not timed.is_even and timed.over + timed.under < SCATTERED_SHARE
            times = Doubt(
                Fault.SCATTERED_TIMES if scattered else Fault.TIMES,
                1.0 if scattered else timed.factor,
                timed.windows,
                Evidence.CLOCK,
                timed.level,
            )
        return [times, *others], False

    def _count_lines(self, agent_id: int, doubts: Sequence[Doubt]) -> None:
        """Take the factor out of an agent's numbers of lines, for each line takes its time."""
        factor = next((one.factor for one in doubts if one.fault is Fault.LINES), 1.0)
        if factor == self._line_factors.get(agent_id, 1.0):
            return
        self._line_factors[agent_id] = factor
        self._intervals = {key: ones for key, ones in self._intervals.items() if key[0] != agent_id}
        self._verdicts = {key: one for key, one in self._verdicts.items() if key[0] != agent_id}

    def contradicts(self, row: AgentRow, age: int, doubts: Sequence[Doubt]) -> bool:
        """Return whether the clock speaks against the times that an agent claimed in an age.

        doubts: what else speaks against them.
        """
        timed = self._timed(row, *round_and_kind(age))
        times = next((one for one in doubts if one.fault in TIME_FAULTS), None)
        return timed is not None and not self._is_right(row, age, timed, times)

    def confirms(self, row: AgentRow, age: int) -> bool:
        """Return whether the clock confirms what an agent claimed in an age."""
        timed = self._timed(row, *round_and_kind(age))
        return timed.confirms if timed is not None else self._fits(row, age) is Fits.CONFIRMED

    def keep_times(self, row: AgentRow, age: int) -> set[int]:
        """Write down what the clock knows of doubted times of an age; return units with news."""
        number, kind = round_and_kind(age)
        timed = self._timed(row, number, kind)
        if timed is None:
            return set()
        known = clock_times(self._tx, row.id, number, kind, timed.unit_ms)
        probed: dict[int, int] = {}
        if kind == "crawl":  # the claims of crawls have those of the probes that they continued
            probed = probe_times(self._tx, row.id, number, timed.unit_ms)
        news = {
            unit: took
            for unit, ms in timed.unit_ms.items()
            if known.get(unit) != (took := max(1, round(ms)) + probed.get(unit, 0))
        }
        set_clock_times(self._tx, row.id, number, kind, news)
        return set(news)

    def _is_right(self, row: AgentRow, age: int, timed: Timed, times: Doubt | None) -> bool:
        """Return whether the clock bears out what an agent claims in an age."""
        if timed.under > WRONG_SHARE and not timed.confirms:
            fit = self._fit(row, age)
            if fit is not None and fit.is_lacking:
                return False
        return _is_right(row, timed, times)

    def _found(self, row: AgentRow) -> Doubt | None:
        """Return the doubt of an agent's times that the clock has begun."""
        return next((one for one in doubts_of(row) if one.evidence is Evidence.CLOCK), None)

    def _fits(self, row: AgentRow, age: int) -> Fits:
        """Return what the clock says of all claims of an age together, where of none alone."""
        fit = self._fit(row, age)
        return Fits.UNKNOWN if fit is None else fit.verdict

    def _fit(self, row: AgentRow, age: int) -> ClockFit | None:
        number, kind = round_and_kind(age)
        intervals = self._of(row.id, number, kind)
        pace = self._pace(row.id, number)
        return fit_claims(
            intervals,
            self._expected(row.id, intervals),
            one_by_one=None if pace is None else pace.one_by_one,
        )

    def _timed(self, row: AgentRow, round_number: int, kind: str) -> Timed | None:
        key = row.id, round_number, kind
        if key not in self._verdicts:
            intervals = self._of(*key)
            is_in = any(one.requests is not None for one in intervals)
            pace = self._pace(row.id, round_number) if is_in else None
            timed = None if pace is None else pace.judge(intervals, {})
            if pace is not None and timed is not None and not timed.confirms:
                timed = pace.judge(intervals, self._expected(row.id, intervals))
            self._verdicts[key] = timed
        return self._verdicts[key]

    def _pace(self, agent_id: int, round_number: int) -> Pace | None:
        """Return how the clock follows from claims in a round, be they of probes or of crawls.

        Of most agents the same ones say so.
        """
        if round_number not in self._believed:
            ids = measurements.agents_in(self._tx, round_number, KINDS, AGENTS_LOOKED_AT)
            rows = agents.by_ids(self._tx, ids).values()
            self._believed[round_number] = sorted(
                row.id for row in rows if not row.is_plain and open_period(row) is None
            )
        found: dict[int, Sequence[FetchInterval]] = {}
        for other in self._believed[round_number]:
            if len(found) == AGENTS:
                break
            if other == agent_id:
                continue
            intervals = [
                *(interval for kind in KINDS for interval in self._of(other, round_number, kind)),
            ]
            if intervals:
                found[other] = intervals
        key = round_number, tuple(found)
        if key not in self._paces:
            self._paces[key] = find_pace(found)
        return self._paces[key]

    def _of(self, agent_id: int, round_number: int, kind: str) -> list[FetchInterval]:
        key = agent_id, round_number, kind
        if key not in self._intervals:
            rows = right_times(self._tx, agent_id, round_number, kind, INTERVALS_MOST)
            self._intervals[key] = _intervals(rows, self._line_factors.get(agent_id, 1.0))
        return self._intervals[key]

    def _expected(self, agent_id: int, intervals: Sequence[FetchInterval]) -> Mapping[int, float]:
        requests = {one.unit: one.requests for one in intervals if one.requests is not None}
        return {
            unit: requests[unit] * math.exp((one.low[1] + one.high[1]) / 2)
            for unit, one in references(self._tx, agent_id, requests).items()
        }


def _pauses(row: AgentRow) -> bool:
    """Return whether an agent may rest while it has work: by its hours, its load or its network."""
    capacity = capacity_of(row)
    return capacity.bytes_per_s > 0 or capacity.strength < NEVER_RESTS * capacity.connections


def _may_be_elsewhere(times: Doubt, fits: Fits) -> bool:
    """Return whether the agent may just be in another part of the network than the others.

    Then it is near to what is far from them, and far from what is near to them: beside them alone
    its true times look scattered.
    """
    is_beside = times.fault is Fault.SCATTERED_TIMES and times.evidence is Evidence.OTHERS
    return is_beside and fits is Fits.UNKNOWN


def _is_right(row: AgentRow, timed: Timed, times: Doubt | None) -> bool:
    """Return whether the clock bears claims out.

    An agent may pause, so a claim shorter than the clock speaks only against one that never does,
    or that is doubted for being short, or for being far from others in part.
    """
    if timed.is_too_short and not _pauses(row):
        return False
    if times is None or (times.fault is Fault.TIMES and times.factor > 1):
        return not timed.is_impossible
    return timed.confirms


def _intervals(rows: Sequence[RightTime], line_factor: float) -> list[FetchInterval]:
    """Return the rights that ended by the agent's word, held once; a log is in by its pages.

    line_factor: lines that it claims, over true ones.
    """
    held: dict[int, int] = {}
    for row in rows:
        held[row.unit_id] = held.get(row.unit_id, 0) + 1
    return [
        FetchInterval(
            unit=row.unit_id,
            from_ms=row.since_ms,
            until_ms=row.until_ms,
            requests=max(1, round((row.requests or 0) / line_factor)) if _is_in(row) else None,
            claimed_ms=row.ms if _is_in(row) else None,
        )
        for row in rows
        if row.finished and held[row.unit_id] == 1
    ]


def _is_in(row: RightTime) -> bool:
    return row.requests is not None and row.requests >= max(1, row.said_pages or 0)
