"""Evidence of the manager's own clock: how long an agent took, beside how long it claims.

A fetch interval is one right to fetch a unit: from the list that named it to the word that it is
finished. Agents fetch units side by side (an interval is the time of one unit) or one by one (a
unit takes from the end of the one before). Which of the two holds, and how much of an interval is
waiting (polls, politeness), is learned from agents that are believed: an interval is a constant,
plus a time for each request, plus the claimed time. Where their claims do not explain their
intervals, or the waiting hides what is claimed, the clock cannot tell, and there is no verdict.
Invariants: pure; two agents must agree before the clock says anything of a third. A claim longer
than the clock allows is impossible; a shorter one may be an agent that paused, so it is held
against it only where something else speaks against the claim, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from manager.distance.fetch_windows import FetchInterval, FetchWindows, windows_of
from shared.frozen import frozen

__all__ = ["Pace", "Timed", "find_pace"]

Floats = npt.NDArray[np.float64]

AGENTS_LEAST: Final = 2
WINDOWS_LEAST: Final = 4
"""Of each agent, so that a few chances decide nothing."""
FLOOR_SHARE: Final = 0.1
"""Errors grow with an interval, and are never below this share of the typical one."""
SPREAD_MOST: Final = 0.5
SPREAD_LEAST: Final = 0.03
AGREED: Final = 1.3
"""Believed agents whose intervals differ more from what their claims explain do not agree."""
EXPLAINED: Final = 0.25
"""Error of the weight of claims: above, the waiting hides them."""
MARGIN: Final = 1.0
"""Errors by which a time is longer that only the clock tells: how soon an agent begins is its own
affair, and a plan gives too much to whom it takes to be too near, but only little less than it
could to whom it takes to be too far."""
PASSES: Final = 8
EXACT: Final = 0.3
"""A time by the clock is known where its error is a smaller share of it."""
EVEN_LEAST: Final = 8
EVEN_ERROR: Final = 0.1
EVEN_FACTOR: Final = 1.3
"""Claims off by one factor are off by more than what the clock may count of waiting."""
OVER_FACTOR: Final = 1.5
UNDER_FACTOR: Final = 2.0
ERRORS: Final = 3.0
TEN: Final = math.log(10)
WRONG_SHARE: Final = 0.15
UNITS_MOST: Final = 3
"""Of a window: the time of more units together says little of each."""


@frozen
class Timed:
    """The verdict of the clock on an agent's claims.

    over, under: share of the windows in which it claims more than the clock allows, or less than
    half of the clock's time. factor: claimed over clock; is_even: it holds for nearly all, else
    it is that of the median window. level: clock over expected, of the median window. unit_ms:
    times of single units, where the clock knows them; claims that are in wrong units are more exact
    than the clock. windows: how many it could judge.
    """

    over: float
    under: float
    factor: float
    is_even: bool
    level: float
    unit_ms: dict[int, float]
    windows: int

    @property
    def confirms(self) -> bool:
        """Return whether the claims are as the clock says."""
        if self.is_even:
            return 1 / EVEN_FACTOR <= self.factor <= EVEN_FACTOR
        return max(self.over, self.under) <= WRONG_SHARE

    @property
    def is_impossible(self) -> bool:
        """Return whether too many claims are longer than the clock allows."""
        return self.factor > EVEN_FACTOR if self.is_even else self.over > WRONG_SHARE

    @property
    def is_too_short(self) -> bool:
        """Return whether all claims are short by one factor; who pauses is short by a time."""
        return self.is_even and self.factor < 1 / EVEN_FACTOR


@dataclass(frozen=True)
class Pace:
    """The model of an interval: clock = waiting + requests x each + claimed x weight.

    one_by_one: a unit begins where the one before ended. spread, least_ms: of the error, relative
    to an interval, and however short it is. covariance: (2, 2) of `waiting_ms` and `each_ms`.
    """

    one_by_one: bool
    waiting_ms: float
    each_ms: float
    weight: float
    spread: float
    least_ms: float
    covariance: Floats

    def judge(
        self, intervals: Sequence[FetchInterval], expected: Mapping[int, float]
    ) -> Timed | None:
        """Return what the clock says of an agent's intervals; None where it cannot tell.

        expected: ms of units by what others see, for units that share a window.
        """
        windows = windows_of(intervals, one_by_one=self.one_by_one)
        if not len(windows):
            return None
        rest = windows.clock_ms - self.waiting_ms - self.each_ms * windows.requests
        took = np.maximum(rest, 0.0) / self.weight
        error = self._error(windows)
        claimed = windows.claimed_ms
        known = error <= EXACT * np.maximum(took, claimed)
        if int(known.sum()) < WINDOWS_LEAST:
            return None
        over = claimed > OVER_FACTOR * took + ERRORS * error
        under = took > UNDER_FACTOR * claimed + ERRORS * error
        off = np.log(np.maximum(claimed, 1.0)) - np.log(np.maximum(took, error))
        beside = [
            ms / sum(parts)
            for units, ms, is_known in zip(windows.units, took.tolist(), known, strict=True)
            if is_known and ms and min(parts := [expected.get(unit, 0.0) for unit in units]) > 0
        ]
        even = self._even(windows, claimed, known)
        right = took + MARGIN * error
        if even is not None:
            right = claimed / even
        else:
            in_tens = claimed / np.exp(TEN * np.round(off / TEN))
            left = self._even(windows, in_tens, known)
            if left is not None and 1 / EVEN_FACTOR <= left <= EVEN_FACTOR:
                right = in_tens
        unit_ms: dict[int, float] = {}
        for at in np.flatnonzero(error <= EXACT * took).tolist():
            units = windows.units[at]
            if len(units) <= UNITS_MOST:
                unit_ms |= _shared(units, float(right[at]), expected)
        return Timed(
            float(over[known].mean()),
            float(under[known].mean()),
            even if even is not None else math.exp(float(np.median(off[known]))),
            even is not None,
            float(np.median(beside)) if beside else 1.0,
            unit_ms,
            int(known.sum()),
        )

    def _even(
        self, windows: FetchWindows, claimed: Floats, known: npt.NDArray[np.bool_]
    ) -> float | None:
        """Return claimed over clock where one factor holds for nearly all, else None.

        The agent's own waiting is learned with it: how soon an agent begins is its own affair.
        """
        claimed, clock = claimed[known], windows.clock_ms[known]
        if len(clock) < EVEN_LEAST or not claimed.any():
            return None
        rest = clock - self.each_ms * windows.requests[known]
        columns = np.column_stack([np.ones(len(clock)), claimed])
        numbers, covariance, _ = _regression(columns, rest, self.least_ms, clock)
        apart = np.abs(rest - columns @ numbers)
        most = ERRORS * np.hypot(self.spread * clock, self.least_ms)
        is_sure = 0 <= covariance[1, 1] <= (EVEN_ERROR * numbers[1]) ** 2 and numbers[1] > 0
        if not is_sure or float((apart > most).mean()) > WRONG_SHARE:
            return None
        factor = math.log(self.weight / numbers[1])
        tens = TEN * round(factor / TEN)
        return math.exp(tens if tens and abs(factor - tens) <= EVEN_ERROR else factor)

    def _error(self, windows: FetchWindows) -> Floats:
        """Return (windows,) the precision of the clock's times for the claims, ms."""
        columns = np.column_stack([np.ones(len(windows)), windows.requests])
        learned = np.einsum("ni,ij,nj->n", columns, self.covariance, columns)
        square = (self.spread * windows.clock_ms) ** 2 + self.least_ms**2 + np.maximum(learned, 0)
        return np.asarray(np.sqrt(square) / self.weight)


def find_pace(intervals: Mapping[int, Sequence[FetchInterval]]) -> Pace | None:
    """Learn from believed agents how intervals follow from claims; None where they do not.

    intervals: by agent, of one round and kind.
    """
    found = [
        pace
        for one_by_one in (False, True)
        if (pace := _fit(intervals, one_by_one=one_by_one)) is not None
    ]
    return min(found, key=lambda pace: pace.spread, default=None)


def _shared(
    units: tuple[int, ...], ms: float, expected: Mapping[int, float]
) -> Iterator[tuple[int, float]]:
    """Yield the time of each unit of a window, in proportion to what is expected of it."""
    if len(units) == 1:
        yield units[0], ms
        return
    parts = [expected.get(unit, 0.0) for unit in units]
    if min(parts) > 0:
        for unit, part in zip(units, parts, strict=True):
            yield unit, ms * part / sum(parts)


def _fit(intervals: Mapping[int, Sequence[FetchInterval]], *, one_by_one: bool) -> Pace | None:
    by_agent = [
        found
        for some in intervals.values()
        if len(found := windows_of(some, one_by_one=one_by_one)) >= WINDOWS_LEAST
    ]
    pace = _fit_agents(by_agent, one_by_one=one_by_one)
    if pace is None and len(by_agent) > AGENTS_LEAST:
        # One that lies may spoil what all others agree about.
        without = (
            _fit_agents([*by_agent[:at], *by_agent[at + 1 :]], one_by_one=one_by_one)
            for at in range(len(by_agent))
        )
        pace = min((one for one in without if one), key=lambda one: one.spread, default=None)
    if pace is None:
        return None
    agreeing = [one for one in by_agent if _agrees(pace, one)]
    if len(agreeing) < AGENTS_LEAST or 2 * len(agreeing) <= len(by_agent):
        return None
    if len(agreeing) < len(by_agent):
        pace = _fit_agents(agreeing, one_by_one=one_by_one)
    return pace if pace is not None and pace.spread <= SPREAD_MOST else None


def _agrees(pace: Pace, one: FetchWindows) -> bool:
    explained = pace.waiting_ms + pace.each_ms * one.requests + pace.weight * one.claimed_ms
    ratio = one.clock_ms / np.maximum(explained, 1.0)
    return bool(1 / AGREED <= np.median(ratio) <= AGREED)


def _fit_agents(by_agent: Sequence[FetchWindows], *, one_by_one: bool) -> Pace | None:
    if len(by_agent) < AGENTS_LEAST:
        return None
    requests = np.concatenate([one.requests for one in by_agent])
    claimed = np.concatenate([one.claimed_ms for one in by_agent])
    clock = np.concatenate([one.clock_ms for one in by_agent])
    floor_ms = FLOOR_SHARE * float(np.median(clock))
    columns = np.column_stack([np.ones(len(clock)), requests, claimed])
    numbers, covariance, _ = _regression(columns, clock, floor_ms)
    weight, error = float(numbers[2]), math.sqrt(max(0.0, float(covariance[2, 2])))
    if not (weight > 0 and error <= EXPLAINED * weight):
        return None
    if not one_by_one:
        # One connection fetches a unit, so what is claimed passes on the clock, no less.
        if abs(weight - 1) > max(ERRORS * error, AGREED - 1):
            return None
        weight = 1.0
    rest = clock - weight * claimed
    numbers, covariance, spread = _regression(columns[:, :2], rest, floor_ms, clock)
    apart = np.abs(rest - columns[:, :2] @ numbers)
    return Pace(
        one_by_one,
        float(numbers[0]),
        float(numbers[1]),
        weight,
        max(spread, SPREAD_LEAST),
        1.4826 * float(np.median(apart)),
        covariance,
    )


def _regression(
    columns: Floats, wanted: Floats, floor_ms: float, clock: Floats | None = None
) -> tuple[Floats, Floats, float]:
    """Return numbers, their covariance, and the spread of relative residuals, of which those far
    out count little.

    Numbers below 0 become 0: no wait is negative. clock: what errors are relative to.
    """
    scale = (wanted if clock is None else clock) + floor_ms
    share = np.ones(len(wanted))
    free = list(range(columns.shape[1]))
    numbers, spread = np.zeros(columns.shape[1]), 1.0
    for _ in range(PASSES):
        weights = np.sqrt(share) / scale
        solved = np.linalg.lstsq(columns[:, free] * weights[:, None], wanted * weights, rcond=None)[
            0
        ]
        numbers = np.zeros(columns.shape[1])
        numbers[free] = solved
        negative = [at for at in free if numbers[at] < 0]
        if negative and len(free) > len(negative):
            free = [at for at in free if at not in negative]
            continue
        numbers = np.maximum(numbers, 0)
        apart = np.abs(wanted - columns @ numbers) / scale
        spread = max(1.4826 * float(np.median(apart)), 1e-6)
        share = np.minimum(1.0, 2 * spread / np.maximum(apart, 1e-9))
    whole = columns / scale[:, None] * np.sqrt(share)[:, None]
    return numbers, np.asarray(np.linalg.pinv(whole.T @ whole) * spread**2, np.float64), spread
