"""Doubt about how many lines an agent logs of a unit: left out, repeated, or invented.

Bytes a line stay right then, and so does the time of the unit, while its bytes do not. A probe has
as many lines as the others' probes of the unit, a crawl as many as the crawl before, and no fewer
than a probe. Where most agents' crawls have changed as well, the web or a setting has.
Invariant: pure; no doubt begins on fewer than `LEAST_UNITS` units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from manager.distance.doubts import (
    LEAST_UNITS,
    Claim,
    Doubt,
    Evidence,
    Fault,
    is_partly_off,
    is_scale_off,
)
from shared.frozen import frozen

__all__ = ["LineRange", "change_of_lines", "find_line_doubt", "with_right_lines"]

_FAULTS: Final = (Fault.LINES, Fault.SCATTERED_LINES)
LINES_FACTOR: Final = 3.0
"""Pages that fail, or that are new since the last round, are rarely two of three."""


@frozen
class LineRange:
    """Bounds of how many lines a unit has, with what says so."""

    low: float
    high: float
    evidence: Evidence


def find_line_doubt(
    own: Mapping[int, int],
    expected: Mapping[int, LineRange],
    standing: Sequence[Doubt] = (),
    usual: tuple[float, float] = (0.0, 0.0),
) -> Doubt | None:
    """Return what is wrong with an agent's numbers of lines; None: nothing, or too few are known.

    standing: the doubts that the agent is under; that of too many lines is ended only by units
    whose most is known. usual: changes since the crawl before that the other agents have seen, too,
    as natural logarithms.
    """
    off, evidences = [], []
    bounded = 0
    for unit, lines in own.items():
        if unit in expected and lines > 0:
            known = expected[unit]
            change = math.log(lines / min(max(lines, known.low), known.high))
            if known.evidence is Evidence.HISTORY:
                change -= min(max(change, usual[0]), usual[1])
            off.append(change)
            bounded += known.high < math.inf
            evidences.append(known.evidence)
    before = next((one for one in standing if one.fault in _FAULTS and one.factor >= 1), None)
    left = before if bounded < LEAST_UNITS else None
    if len(off) < LEAST_UNITS:
        return left
    apart = np.array(off)
    evidence = max(set(evidences), key=evidences.count)
    if is_scale_off(apart, LINES_FACTOR):
        return Doubt(Fault.LINES, float(np.exp(np.median(apart))), len(off), evidence)
    if is_partly_off(apart, LINES_FACTOR):
        return Doubt(Fault.SCATTERED_LINES, 1.0, len(off), evidence)
    return left


def with_right_lines(
    own: Mapping[int, Claim], expected: Mapping[int, LineRange], doubt: Doubt
) -> dict[int, Claim]:
    """Return claims with as many lines as they should have, and as many bytes a line as claimed.

    Times of units can be compared then, for they were not told line by line.
    """
    found = {}
    for unit, claim in own.items():
        factor = doubt.factor
        if doubt.fault is Fault.SCATTERED_LINES:
            known = expected.get(unit)
            right = claim.lines if known is None else min(max(claim.lines, known.low), known.high)
            off = claim.lines / right
            factor = off if abs(math.log(off)) > math.log(LINES_FACTOR) else 1.0
        found[unit] = Claim(
            max(1, round(claim.lines / factor)),
            max(1, round(claim.size_bytes / factor)),
            claim.elapsed_ms,
        )
    return found


def change_of_lines(own: Mapping[int, int], before: Mapping[int, int]) -> float | None:
    """Return how numbers of lines changed, as a natural logarithm; None: of too few units."""
    changes = [math.log(lines / before[unit]) for unit, lines in own.items() if unit in before]
    return float(np.median(changes)) if len(changes) >= LEAST_UNITS else None
