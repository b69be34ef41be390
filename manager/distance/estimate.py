"""One distance from the lines of a probe or a crawl: milliseconds per KByte of 1,000 bytes.

The distance is the source's: the sum of the times over the sum of the bytes, failed requests
included, for they cost time as well. Robust figures stand beside it and only flag: a single line
that decides the distance is pointed out, and never averaged away.
Source: seed 004, formula (4); the 50 URLs of a probe are chosen elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from manager.distance.errors import DistanceError

__all__ = ["DistanceEstimate", "Evidence", "State", "estimate", "estimate_hosts"]

_MAD_TO_SIGMA: Final = 1.4826
"""Makes the median absolute deviation comparable with a standard deviation (normal data)."""
_SUSPECT: Final = 3.5
"""Modified z-score from which a value counts as an outlier (Iglewicz and Hoaglin, 1993)."""
_LEAST_SPREAD: Final = math.log(1.25)
"""Lines within 25% of each other are never suspect, however alike the rest are."""
_LARGEST: Final = 10**12
"""A line of a terabyte or of 30 years is no measurement, and sums of such would overflow."""
_DECISIVE: Final = 2.0
"""Suspect lines are worth a flag where the distance without them differs by this factor."""


class State(StrEnum):
    """What a distance rests on."""

    UNMEASURED = "unmeasured"
    UNREACHABLE = "unreachable"
    WEAK = "weak"
    MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The least that counts as measured. A probe that saw the whole host needs no minimum."""

    min_lines: int = 3
    min_bytes: int = 5_000

    def __post_init__(self) -> None:
        for name in ("min_lines", "min_bytes"):
            if getattr(self, name) < 1:
                raise DistanceError(f"{name} = {getattr(self, name)}: must be >= 1")


@dataclass(frozen=True, slots=True)
class DistanceEstimate:
    """A distance with everything needed to judge it.

    ms_per_kb: nan where nothing was tried, inf where nothing came back. lines: all, of which
    `failed` brought no byte. median_ms_per_kb, mad_ms_per_kb: over lines with bytes, nan without.
    suspect_lines: far from the other lines; without_suspects_ms_per_kb: the distance without
    them; outlier: that makes a difference of twice or more.
    """

    ms_per_kb: float
    state: State
    lines: int
    failed: int
    size_bytes: int
    elapsed_ms: int
    median_ms_per_kb: float
    mad_ms_per_kb: float
    suspect_lines: int
    without_suspects_ms_per_kb: float
    outlier: bool

    @property
    def usable_ms_per_kb(self) -> float:
        """Return what belongs in the matrix: nan where the evidence is too weak."""
        return math.nan if self.state is State.WEAK else self.ms_per_kb

    @property
    def reason(self) -> str:
        """Return the state and its flag in words."""
        if self.state is State.UNMEASURED:
            return "nobody has tried it from here"
        if self.state is State.UNREACHABLE:
            return f"all {self.lines} requests failed"
        words = f"{self.size_bytes:,} bytes in {self.elapsed_ms:,} ms over {self.lines} requests"
        if self.failed:
            words += f", {self.failed} of them failed"
        if self.state is State.WEAK:
            words += "; too little to rely on"
        if self.outlier:
            words += (
                f"; {self.suspect_lines} of them far from the others, without which it is"
                f" {self.without_suspects_ms_per_kb:.3g} ms per KByte"
            )
        return words


def estimate(
    response_bytes: npt.ArrayLike,
    elapsed_ms: npt.ArrayLike,
    *,
    complete: bool = False,
    evidence: Evidence | None = None,
) -> DistanceEstimate:
    """Return the distance that the lines of one agent and one host show.

    response_bytes, elapsed_ms: (lines,) integers as in the crawl log; 0 bytes is a failed
    request. complete: the lines are all that the host has, so that few are enough.
    """
    size, time = _lines(response_bytes, elapsed_ms)
    answered = size > 0
    total_bytes, total_ms = int(size.sum()), int(time.sum())
    count, failed = len(size), int((~answered).sum())
    if not total_bytes:
        state, value = (State.UNREACHABLE, math.inf) if count else (State.UNMEASURED, math.nan)
        return DistanceEstimate(
            value, state, count, failed, 0, total_ms, math.nan, math.nan, 0, value, False
        )
    least = evidence or Evidence()
    enough = complete or (count - failed >= least.min_lines and total_bytes >= least.min_bytes)
    per_line = time[answered] * 1000 / size[answered]
    median = float(np.median(per_line))
    suspect = _suspects(per_line)
    value = total_ms * 1000 / total_bytes
    kept_bytes = total_bytes - int(size[answered][suspect].sum())
    kept_ms = total_ms - int(time[answered][suspect].sum())
    without = kept_ms * 1000 / kept_bytes if kept_bytes else value
    apart = max(value, without) >= _DECISIVE * min(value, without)
    return DistanceEstimate(
        ms_per_kb=value,
        state=State.MEASURED if enough else State.WEAK,
        lines=count,
        failed=failed,
        size_bytes=total_bytes,
        elapsed_ms=total_ms,
        median_ms_per_kb=median,
        mad_ms_per_kb=float(np.median(np.abs(per_line - median))),
        suspect_lines=int(suspect.sum()),
        without_suspects_ms_per_kb=without,
        outlier=bool(suspect.any()) and apart,
    )


def estimate_hosts(
    host: npt.ArrayLike,
    response_bytes: npt.ArrayLike,
    elapsed_ms: npt.ArrayLike,
    *,
    evidence: Evidence | None = None,
) -> dict[int, DistanceEstimate]:
    """Return the distance of each host in one agent's log, by host number, ascending.

    host, response_bytes, elapsed_ms: (lines,) in any order; `host` holds the caller's numbers.
    """
    number = np.asarray(host, dtype=np.int64)
    size, time = _lines(response_bytes, elapsed_ms)
    if number.shape != size.shape:
        raise DistanceError(f"{len(number)} hosts for {len(size)} lines: give one for each line")
    order = np.argsort(number, kind="stable")
    hosts, starts = np.unique(number[order], return_index=True)
    ends = np.append(starts, len(number))[1:]
    return {
        int(one): estimate(size[order[low:high]], time[order[low:high]], evidence=evidence)
        for one, low, high in zip(hosts, starts, ends, strict=True)
    }


def _lines(
    response_bytes: npt.ArrayLike, elapsed_ms: npt.ArrayLike
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    try:
        size = np.asarray(response_bytes, dtype=np.int64)
        time = np.asarray(elapsed_ms, dtype=np.int64)
    except OverflowError as error:
        raise DistanceError("a size or a time does not fit 64 bits: the log is wrong") from error
    if size.shape != time.shape or size.ndim != 1:
        raise DistanceError(
            f"sizes have shape {size.shape}, times {time.shape}: give one of each for a line"
        )
    if len(size) and (min(size.min(), time.min()) < 0 or max(size.max(), time.max()) > _LARGEST):
        raise DistanceError(f"a size or a time is not within 0..{_LARGEST}: the log is wrong")
    return size, time


def _suspects(per_line: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return (lines,) which are far from the median, on a log scale: distances are ratios."""
    logs = np.log(np.maximum(per_line, 1e-9))
    apart = np.abs(logs - np.median(logs))
    spread = max(_MAD_TO_SIGMA * float(np.median(apart)), _LEAST_SPREAD)
    return np.asarray(apart > _SUSPECT * spread)
