"""The lies: lines that an agent writes in its log in the place of true ones."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from shared.frozen import frozen

__all__ = ["HONEST", "LIES", "Lie", "Seen"]


@frozen
class Seen:
    """A line of a log. request: its number within the unit.

    requests, unit_ms: lines and time of the whole unit. kind, round: of the order.
    """

    unit: str
    request: int
    size_bytes: int
    ms: int
    kind: str = "crawl"
    round: int = 1
    requests: int = 1
    unit_ms: int = 0


LARGE: Final = 25
"""Pages of a host; the mean one has so many."""

Lie = Callable[[Seen], list[Seen]]
"""Returns the lines that are written for one that is true."""


def _honest(seen: Seen) -> list[Seen]:
    """Write the true line."""
    return [seen]


HONEST: Final[Lie] = _honest


def _scaled(
    size: float, ms: float, *, of_half: bool = False, kinds: tuple[str, ...] = ("probe", "crawl")
) -> Lie:
    def lie(seen: Seen) -> list[Seen]:
        is_true = of_half and zlib.crc32(seen.unit.encode()) % 2 == 1
        if is_true or seen.kind not in kinds:
            return [seen]
        return [_times(seen, size, ms)]

    return lie


def _times(seen: Seen, size: float, ms: float) -> Seen:
    return replace(seen, size_bytes=max(1, round(seen.size_bytes * size)), ms=round(seen.ms * ms))


def _one_line(seen: Seen) -> list[Seen]:
    """Add the line of the observation behind the first one of each unit."""
    return [seen] if seen.request else [seen, replace(seen, size_bytes=10**12, ms=1)]


def _wrong_bytes(most: float) -> Lie:
    """Return bytes that are wrong by another factor for each unit, from 1 / most to most."""

    def lie(seen: Seen) -> list[Seen]:
        share = zlib.crc32(f"bytes {seen.unit}".encode()) / 2**32
        return [_times(seen, most ** (2 * share - 1), 1)]

    return lie


def _bytes_of_large(factor: float) -> Lie:
    """Return bytes that are wrong where a host has more pages than the mean one."""
    return lambda seen: [_times(seen, factor if seen.requests > LARGE else 1, 1)]


def _lines_left_out(share: int, *, of_half: bool = False) -> Lie:
    """Return one line for so many; the unit takes as long as it did."""

    def lie(seen: Seen) -> list[Seen]:
        """Return the line with the time of those it stands for, or none."""
        if of_half and zlib.crc32(seen.unit.encode()) % 2 == 1:
            return [seen]
        if seen.request % share:
            return []
        return [replace(seen, ms=round(seen.unit_ms / math.ceil(seen.requests / share)))]

    return lie


def _lines_repeated(count: int) -> Lie:
    """Return so many lines for one, with its time in equal parts."""
    return lambda seen: [
        replace(_times(seen, 1, 1 / count), request=seen.request * count + part)
        for part in range(count)
    ]


def _wrong_times(seen: Seen) -> list[Seen]:
    """Write times that are wrong by another factor for each unit, from a tenth to ten times."""
    share = zlib.crc32(f"times {seen.unit}".encode()) / 2**32
    return [_times(seen, 1, 10 ** (2 * share - 1))]


def _scaled_by_round(size: float, ms: float) -> Lie:
    """Return a lie that grows by factors with each round."""
    return lambda seen: [_times(seen, size**seen.round, ms**seen.round)]


LIES: Final[dict[str, Lie]] = {
    "one line": _one_line,
    "times x 10": _scaled(1, 10),
    "times / 10": _scaled(1, 0.1),
    "no time": _scaled(1, 0),
    "all x 10": _scaled(10, 10),
    "all / 10": _scaled(0.1, 0.1),
    "half x 10": _scaled(1, 10, of_half=True),
    "half / 10": _scaled(1, 0.1, of_half=True),
    "bytes x 10": _scaled(10, 1),
    "bytes / 10": _scaled(0.1, 1),
    "wrong bytes": _wrong_bytes(10),
    "half bytes x 10": _scaled(10, 1, of_half=True),
    "wrong times": _wrong_times,
    "times x 3": _scaled(1, 3),
    "times / 3": _scaled(1, 1 / 3),
    "probes x 10": _scaled(1, 10, kinds=("probe",)),
    "crawls / 10": _scaled(1, 0.1, kinds=("crawl",)),
    "drift x 1.6": _scaled_by_round(1, 1.6),
    "drift / 1.6": _scaled_by_round(1, 1 / 1.6),
    "wrong bytes x 2": _wrong_bytes(2),
    "wrong bytes x 100": _wrong_bytes(100),
    "half bytes / 10": _scaled(0.1, 1, of_half=True),
    "large bytes x 10": _bytes_of_large(10),
    "large bytes / 10": _bytes_of_large(0.1),
    "bytes drift x 1.6": _scaled_by_round(1.6, 1),
    "bytes drift / 1.6": _scaled_by_round(1 / 1.6, 1),
    "lines / 10": _lines_left_out(10),
    "lines x 10": _lines_repeated(10),
    "half lines / 10": _lines_left_out(10, of_half=True),
    "honest": HONEST,
}
