"""The lies: what an agent writes in its log in the place of what it saw."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

from shared.frozen import frozen

__all__ = ["HONEST", "LIES", "Lie", "Seen"]


@frozen
class Seen:
    """A line of a log. request: its number within the unit."""

    unit: str
    request: int
    size_bytes: int
    ms: int


Lie = Callable[[Seen], list[Seen]]
"""Returns the lines that are written for one that is true."""


def HONEST(seen: Seen) -> list[Seen]:  # noqa: N802 - one of the lies
    """Write what was seen."""
    return [seen]


def _scaled(size: float, ms: float, *, of_half: bool = False) -> Lie:
    def lie(seen: Seen) -> list[Seen]:
        if of_half and zlib.crc32(seen.unit.encode()) % 2:
            return [seen]
        return [
            Seen(
                seen.unit,
                seen.request,
                max(1, round(seen.size_bytes * size)),
                round(seen.ms * ms),
            )
        ]

    return lie


def _one_line(seen: Seen) -> list[Seen]:
    """Add the line of the observation behind the first one of each unit."""
    return [seen] if seen.request else [seen, Seen(seen.unit, 0, 10**12, 1)]


def _wrong_bytes(seen: Seen) -> list[Seen]:
    """Write bytes that are wrong by another factor for each unit, from a tenth to ten times."""
    share = zlib.crc32(f"bytes {seen.unit}".encode()) / 2**32
    size = max(1, round(seen.size_bytes * 10 ** (2 * share - 1)))
    return [Seen(seen.unit, seen.request, size, seen.ms)]


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
    "wrong bytes": _wrong_bytes,
    "half bytes x 10": _scaled(10, 1, of_half=True),
}
