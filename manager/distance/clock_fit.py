"""Fit of an agent's claimed times to the manager's clock, over all its units together.

Where waiting hides the time of a single unit (`clock_evidence`), many units still show whether
the clock follows the claims: clock = waiting + requests x each + claimed x slope. The slope of
true claims is 1, that of claims ten times too long 0.1. Beside the times that the others see a
third number tells short claims: true claims leave nothing for the others' times to explain.
Invariants: pure; it needs no other agent to confirm claims, so it judges fleets of two, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from manager.distance.fetch_windows import FetchInterval, windows_of
from shared.frozen import frozen

__all__ = ["ClockFit", "Fits", "fit_claims"]

Floats = npt.NDArray[np.float64]

WINDOWS_LEAST: Final = 8
WINDOWS_TO_BLAME: Final = 16
BESIDE_LEAST: Final = 12
SLOPE_FACTOR: Final = 1.6
"""Honest slopes lie within: what an agent does besides takes longer where fetching does."""
ERROR_MOST: Final = 0.25
SHORT_SHARE: Final = 0.5
"""Of the others' times that the clock holds beyond the claims: more, and the claims are short."""
ERRORS: Final = 3.0
PASSES: Final = 15


class Fits(StrEnum):
    """Verdict of the clock on all claims together."""

    CONFIRMED = "confirmed"
    TOO_LONG = "too-long"
    TOO_SHORT = "too-short"
    UNKNOWN = "unknown"


@frozen
class ClockFit:
    """Clock over claimed.

    error: of the slope. left: of the others' times, what the claims lack; None: too few units are
    known to the others. explained: share of the differences between windows.
    """

    slope: float
    error: float
    left: float | None
    left_error: float
    explained: float
    windows: int

    @property
    def is_lacking(self) -> bool:
        """Return whether the others' times explain what the claims lack; pauses would not."""
        return (
            self.windows >= WINDOWS_TO_BLAME
            and self.left is not None
            and self.left - ERRORS * self.left_error > SHORT_SHARE
        )

    @property
    def verdict(self) -> Fits:
        """Return what follows for the claims."""
        can_blame = self.windows >= WINDOWS_TO_BLAME
        if can_blame and self.slope + ERRORS * self.error < 1 / SLOPE_FACTOR:
            return Fits.TOO_LONG
        if self.is_lacking or (can_blame and self.slope - ERRORS * self.error > SLOPE_FACTOR**2):
            return Fits.TOO_SHORT
        is_near = 1 / SLOPE_FACTOR <= self.slope <= SLOPE_FACTOR
        is_near = is_near and self.slope + ERRORS * self.error >= 1  # no claim takes longer
        is_complete = self.left is None or self.left <= SHORT_SHARE
        if is_near and is_complete and self.error <= ERROR_MOST:
            return Fits.CONFIRMED
        return Fits.UNKNOWN


def fit_claims(
    intervals: Sequence[FetchInterval], expected: Mapping[int, float], *, one_by_one: bool | None
) -> ClockFit | None:
    """Return how the clock follows from an agent's claims; None where too few units are known.

    expected: ms of units by what the others see. one_by_one: how the agents of the fleet fetch;
    None where that is not known: then the way that explains more may only confirm claims.
    """
    if one_by_one is not None:
        return _fit(intervals, expected, one_by_one=one_by_one)
    ways = [one for way in (False, True) if (one := _fit(intervals, expected, one_by_one=way))]
    best = max(ways, key=lambda one: one.explained, default=None)
    return best if best is not None and best.verdict is Fits.CONFIRMED else None


def _fit(
    intervals: Sequence[FetchInterval], expected: Mapping[int, float], *, one_by_one: bool
) -> ClockFit | None:
    windows = windows_of(intervals, one_by_one=one_by_one)
    if len(windows) < WINDOWS_LEAST or not np.ptp(windows.claimed_ms):
        return None
    columns = np.column_stack([np.ones(len(windows)), windows.requests, windows.claimed_ms])
    numbers, errors = _regression(columns, windows.clock_ms)
    apart = np.abs(windows.clock_ms - columns @ numbers)
    usual = np.abs(windows.clock_ms - np.median(windows.clock_ms))
    explained = 1 - float(np.median(apart) / max(1.0, float(np.median(usual))))
    beside = [[expected.get(unit, 0.0) for unit in units] for units in windows.units]
    known = np.array([min(parts) > 0 for parts in beside])
    left, left_error = None, 0.0
    if int(known.sum()) >= BESIDE_LEAST:
        more = np.column_stack([columns, [sum(parts) for parts in beside]])[known]
        with_others, others_errors = _regression(more, windows.clock_ms[known])
        left, left_error = float(with_others[3]), float(others_errors[3])
    return ClockFit(float(numbers[2]), float(errors[2]), left, left_error, explained, len(windows))


def _regression(columns: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Return numbers and their errors by robust least squares."""
    share: Floats = np.ones(len(wanted))
    numbers: Floats
    numbers, spread = np.zeros(columns.shape[1]), 1.0
    for _ in range(PASSES):
        root = np.sqrt(share)
        numbers = np.asarray(
            np.linalg.lstsq(columns * root[:, None], wanted * root, rcond=None)[0], np.float64
        )
        apart = np.abs(wanted - columns @ numbers)
        spread = max(1.4826 * float(np.median(apart)), 1.0)
        share = np.minimum(1.0, 2 * spread / np.maximum(apart, 1e-9))
    whole = columns * np.sqrt(share)[:, None]
    errors = np.sqrt(np.maximum(0.0, np.diag(np.linalg.pinv(whole.T @ whole)))) * spread
    return numbers, np.asarray(errors, np.float64)
