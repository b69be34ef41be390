"""Doubts about an agent's claims: what does not fit its own past, or what all others see.

A claim is what the logs of one agent say of one unit: lines, bytes, milliseconds. Bytes of a page
are the same from everywhere, times differ by agent. So bytes are compared with the other agents',
times with the agent's own earlier claims; where it has none, with the others'. What the times of
the other agents have done as well, since their own earlier claims, is no fault of one.
- A scale is wrong where most units differ by one factor (a clock in other units, a lie).
- Claims are scattered where many units differ, at whatever level the agent is, and others do not:
  single hosts change from round to round, and some serve other pages to other countries.
Only claims of whole units are compared in part: half a unit has other pages than the whole. A
crawl has other pages than a probe, so its bytes are compared with those of crawls where some are
known; a probe's show only what is wrong on the whole.
The reference of a unit is the range from the lower to the upper median of the others, so of two
others one may lie. Times count as different only where ms per KByte and ms per line both are: a
crawl has other pages than a probe, and wrong bytes alone are no wrong times.
Invariant: pure; no doubt begins on fewer than `LEAST_UNITS` units, or ends on less than one fewer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from shared.frozen import frozen

__all__ = [
    "LEAST_UNITS",
    "OTHERS_LEAST",
    "Claim",
    "Doubt",
    "Evidence",
    "Fault",
    "Reference",
    "change_of_times",
    "find_doubts",
    "is_partly_off",
    "is_scale_off",
    "reference_of",
    "usual_changes",
]

Floats = npt.NDArray[np.float64]

LEAST_UNITS: Final = 4
OTHERS_LEAST: Final = 2
"""Agents to compare with: of only two that differ, either may be wrong."""
LEVEL_FACTOR: Final = 5.0
"""An agent without history that differs more from the others on the whole is doubted. Of the
source's 17 one was 13 times slower in truth, the others at most three times."""
BYTES_FACTOR: Final = 5.0
"""Compressed and plain transfers of the same pages differ by three to four."""
UNLIKE_FACTOR: Final = 8.0
"""Bytes a line of a crawl over those of probes: the first pages of a host are small."""
SCATTERED_BYTES_FACTOR: Final = 3.0
FAR_SHARE: Final = 0.3
FAR_LEAST: Final = 4
"""Units of an agent that differ, the others not: its claims are scattered."""
LEVELS: Final = (0.25, 0.75)
"""Quantiles that may be the level of the units that are right; of halves the middle is none."""
APART_FACTOR: Final = 20.0
"""From the nearest tenth of an agent's units to the farthest, beside what the others see: honest
agents of the source have 7, its oddest has 9; who lies about half of the units has 50."""
QUARTER_FACTOR: Final = 2.0
"""Three of four units must differ by this, in the same direction, for a scale to be wrong."""
TEN: Final = math.log(10)
LEVEL_PASSES: Final = 4
LEAST_MS: Final = 0.5
"""A line of 0 ms took less than half a millisecond."""


class Fault(StrEnum):
    """Fault of an agent's claims."""

    TIMES = "times"
    SCATTERED_TIMES = "scattered-times"
    BYTES = "bytes"
    SCATTERED_BYTES = "scattered-bytes"
    LINES = "lines"
    SCATTERED_LINES = "scattered-lines"


SCALES: Final = (Fault.TIMES, Fault.BYTES)


class Evidence(StrEnum):
    """Evidence that claims were compared with."""

    HISTORY = "history"
    OTHERS = "others"
    CLOCK = "clock"


@frozen
class Claim:
    """Sums of one agent's logs of a unit; at least one line and one byte."""

    lines: int
    size_bytes: int
    elapsed_ms: int

    @property
    def logs(self) -> tuple[float, float, float]:
        """Return natural logarithms: ms per byte, ms per line, bytes per line."""
        ms = math.log(max(self.elapsed_ms, LEAST_MS * self.lines))
        size, lines = math.log(self.size_bytes), math.log(self.lines)
        return ms - size, ms - lines, size - lines


@frozen
class Doubt:
    """A fault with its parameters. factor: claimed over expected; 1 where claims are scattered.

    units: how many were compared. level: the agent's times over those of the others, by what is
    known beside its claims; 1 where nothing is.
    """

    fault: Fault
    factor: float
    units: int
    evidence: Evidence
    level: float = 1.0


@frozen
class Reference:
    """Claims of the other agents of a unit: lower and upper medians, each as `Claim.logs`."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]

    @property
    def ms_per_kb(self) -> float:
        """Return the middle of the low and the high distance, ms per KByte."""
        return 1000 * math.exp((self.low[0] + self.high[0]) / 2)

    @property
    def bytes_per_line(self) -> float:
        """Return the middle of the low and the high number of bytes per line."""
        return math.exp((self.low[2] + self.high[2]) / 2)


def reference_of(claims: Sequence[Claim]) -> Reference | None:
    """Return what some agents say of a unit together; None where they are too few."""
    if len(claims) < OTHERS_LEAST:
        return None
    ordered = np.sort(np.array([claim.logs for claim in claims]), axis=0)
    low, high = ordered[(len(claims) - 1) // 2], ordered[len(claims) // 2]
    return Reference(tuple(low.tolist()), tuple(high.tolist()))


def find_doubts(
    own: Mapping[int, Claim],
    others: Mapping[int, Reference],
    earlier: Mapping[int, Claim],
    factor: float,
    standing: Sequence[Doubt] = (),
    *,
    has_own_level: bool = False,
    whole: bool = True,
    alike: Mapping[int, Reference] | None = None,
    sizes_before: Mapping[int, Claim] | None = None,
    usual: tuple[float, float] = (0.0, 0.0),
) -> list[Doubt] | None:
    """Return what is wrong with an agent's claims; None where there is too little to compare with.

    own, earlier: by unit, what it claims now and claimed before. factor: within which its times may
    change on the whole. standing: the doubts that the agent is under; they end where the
    claims are clearly right again, for an agent crawls what looks near by its claims.
    has_own_level: that it is slower or faster than the others on the whole is known and true.
    whole: all lines of the units are in. alike: what others see of the same pages; None: `others`.
    sizes_before: bytes of the same pages before, whoever claimed them; None: `earlier`. usual:
    changes of times that the other agents have seen, too, as natural logarithms.
    """
    beside = _Apart.of_others(own, others)
    same = beside if alike is None else _Apart.of_others(own, alike)
    since = _Apart.of_past(own, earlier)
    least = LEAST_UNITS - bool(standing)
    if max(len(beside), len(since)) < least:
        return None
    compared = beside if len(beside) >= least else since
    before = since if sizes_before is None else _Apart.of_past(own, sizes_before)
    sizes = _of_bytes(beside, same, before, least) or _left(
        compared.size_middle, standing, (Fault.BYTES, Fault.SCATTERED_BYTES)
    )
    if len(since) >= least:
        changes = since.times(per_line=sizes is not None)
        middle = changes - np.clip(changes, *usual)
        times = _of_times(middle, changes, factor, Evidence.HISTORY)
    else:
        beyond, middle = (
            beside.times(per_line=sizes is not None),
            beside.times(per_line=sizes is not None, middle=True),
        )
        level = max(factor, LEVEL_FACTOR)
        times = None if has_own_level else _of_times(beyond, middle, level, Evidence.OTHERS)
    times = times or _left(middle, standing, (Fault.TIMES, Fault.SCATTERED_TIMES))
    return [
        doubt
        for doubt in (times, sizes)
        if doubt is not None and (whole or doubt.fault in SCALES or doubt in standing)
    ]


def change_of_times(own: Mapping[int, Claim], earlier: Mapping[int, Claim]) -> float | None:
    """Return how an agent's times have changed, as a natural logarithm; None: of too few units."""
    since = _Apart.of_past(own, earlier)
    return float(np.median(since.times(per_line=False))) if len(since) >= LEAST_UNITS else None


def usual_changes(changes: Sequence[float]) -> tuple[float, float]:
    """Return within which range the times of most of some agents have changed; 0 is in it.

    Of two the smaller change counts, so one agent alone excuses no other.
    """
    if not changes:
        return 0.0, 0.0
    ordered = sorted(changes)
    low, high = ordered[len(ordered) // 2], ordered[(len(ordered) - 1) // 2]
    return min(low, 0.0), max(high, 0.0)


def _left(middle: Floats, standing: Sequence[Doubt], faults: Sequence[Fault]) -> Doubt | None:
    """Return a standing doubt that claims do not end: half of them still differ that way by two,
    or, where they were scattered, too few are known to say so."""
    for doubt in standing:
        if doubt.fault not in faults:
            continue
        if doubt.fault in (Fault.SCATTERED_TIMES, Fault.SCATTERED_BYTES):
            return doubt if 2 * len(middle) < doubt.units else None
        way = math.copysign(1.0, doubt.factor - 1)
        return doubt if way * float(np.median(middle)) > math.log(QUARTER_FACTOR) else None
    return None


def _of_times(apart: Floats, middle: Floats, factor: float, evidence: Evidence) -> Doubt | None:
    if is_scale_off(apart, factor):
        return Doubt(Fault.TIMES, float(np.exp(np.median(middle))), len(apart), evidence)
    if evidence is Evidence.HISTORY:
        is_scattered = is_partly_off(apart, factor)
    else:
        first, last = np.quantile(middle, (0.1, 0.9))
        is_scattered = len(middle) >= 2 * LEAST_UNITS and last - first > math.log(APART_FACTOR)
    if not is_scattered:
        return None
    return Doubt(Fault.SCATTERED_TIMES, 1.0, len(apart), evidence, _level(middle))


def _level(middle: Floats) -> float:
    """Return the level of times some of which are wrong by powers of ten, the others' being 1."""
    level = 0.0
    for _ in range(LEVEL_PASSES):
        rest = middle - level
        level += float(np.median(rest - TEN * np.round(rest / TEN)))
    return math.exp(level)


def _of_bytes(beside: _Apart, same: _Apart, before: _Apart, least: int) -> Doubt | None:
    """Return a doubt about bytes, by the same pages at the others or in the past.

    Other pages of the others only show errors that concern the whole.
    """
    for compared, evidence, factor in (
        (same, Evidence.OTHERS, BYTES_FACTOR),
        (before, Evidence.HISTORY, BYTES_FACTOR),
        (beside, Evidence.OTHERS, UNLIKE_FACTOR),
    ):
        if len(compared) < least:
            continue
        sizes, middle = compared.sizes, compared.size_middle
        if is_scale_off(sizes, factor):
            return Doubt(Fault.BYTES, float(np.exp(np.median(middle))), len(sizes), evidence)
        is_same = compared is same or evidence is Evidence.HISTORY
        if is_same and is_partly_off(sizes, SCATTERED_BYTES_FACTOR):
            return Doubt(Fault.SCATTERED_BYTES, 1.0, len(sizes), evidence)
    return None


class _Apart:
    """Claims beside what they are compared with.

    beyond: (units, 3) how far logarithms lie outside the range of a reference; 0 inside. middle:
    how far they lie from its middle. Columns as `Claim.logs`.
    """

    def __init__(self, pairs: Sequence[tuple[tuple[float, float, float], Reference]]) -> None:
        own = np.array([logs for logs, _ in pairs]).reshape(-1, 3)
        low = np.array([reference.low for _, reference in pairs]).reshape(-1, 3)
        high = np.array([reference.high for _, reference in pairs]).reshape(-1, 3)
        self.beyond: Floats = np.maximum(own - high, 0) + np.minimum(own - low, 0)
        self.middle: Floats = own - (low + high) / 2

    @classmethod
    def of_others(cls, own: Mapping[int, Claim], others: Mapping[int, Reference]) -> Self:
        """Compare claims with what the others see of the same units."""
        return cls([(one.logs, others[unit]) for unit, one in own.items() if unit in others])

    @classmethod
    def of_past(cls, own: Mapping[int, Claim], earlier: Mapping[int, Claim]) -> Self:
        """Compare claims with earlier ones of the same units."""
        past = {unit: earlier[unit].logs for unit in own if unit in earlier}
        return cls.of_others(own, {unit: Reference(logs, logs) for unit, logs in past.items()})

    def __len__(self) -> int:
        return len(self.beyond)

    @property
    def sizes(self) -> Floats:
        """Return (units,) how far bytes a line lie outside the range."""
        return self.beyond[:, 2]

    @property
    def size_middle(self) -> Floats:
        """Return (units,) how far bytes a line lie from the middle."""
        return self.middle[:, 2]

    def times(self, *, per_line: bool, middle: bool = False) -> Floats:
        """Return (units,) how far times lie from the reference.

        per_line: bytes are wrong, so that only ms per line say something.
        """
        rows = self.middle if middle else self.beyond
        if per_line:
            return rows[:, 1]
        per_byte, lines = rows[:, 0], rows[:, 1]
        smaller = np.where(np.abs(per_byte) < np.abs(lines), per_byte, lines)
        return np.where(per_byte * lines > 0, smaller, 0.0)


def is_scale_off(apart: Floats, factor: float) -> bool:
    """Return whether most units differ in one direction, half of them by the factor."""
    if len(apart) < LEAST_UNITS:
        return False
    first, median, third = np.quantile(apart, (0.25, 0.5, 0.75))
    least, quarter = math.log(factor), math.log(QUARTER_FACTOR)
    return bool((median > least and first > quarter) or (median < -least and third < -quarter))


def is_partly_off(apart: Floats, factor: float) -> bool:
    """Return whether many units differ by a factor, whatever the level of most of them is."""
    if len(apart) < LEAST_UNITS:
        return False
    for level in (0.0, *np.quantile(apart, LEVELS).tolist()):
        far = int((np.abs(apart - level) > math.log(factor)).sum())
        if far < FAR_LEAST or far < FAR_SHARE * len(apart):
            return False
    return True
