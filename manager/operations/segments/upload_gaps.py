"""Missing byte ranges of an upload: [start, end), in order and disjoint.

An upload begins with one gap, the whole. Arriving bytes fill the first gap from its start; a block
that turns out wrong becomes a gap again. The sender always receives the start of the first gap, so
a sender that only knows tus ("continue at this offset") sends the missing bytes and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

__all__ = ["NOTHING", "Gap", "filled", "missing_bytes", "offset_of", "read_gaps", "write_gaps"]

Gap = tuple[int, int]
NOTHING: Final[tuple[Gap, ...]] = ()


def read_gaps(text: str) -> tuple[Gap, ...]:
    """Return the gaps that `write_gaps` wrote."""
    return tuple((int(start), int(end)) for start, end in json.loads(text or "[]"))


def write_gaps(gaps: Sequence[Gap]) -> str:
    """Return gaps as the table keeps them."""
    return json.dumps([list(gap) for gap in gaps])


def offset_of(gaps: Sequence[Gap], size_bytes: int) -> int:
    """Return where to continue: the start of the first gap, or the end of the file."""
    return gaps[0][0] if gaps else size_bytes


def filled(gaps: Sequence[Gap], start: int, end: int) -> tuple[Gap, ...]:
    """Return what is still missing after the bytes [start, end) have come."""
    left: list[Gap] = []
    for first, last in gaps:
        if first < start:
            left.append((first, min(last, start)))
        if last > end:
            left.append((max(first, end), last))
    return tuple(gap for gap in left if gap[0] < gap[1])


def missing_bytes(gaps: Sequence[Gap]) -> int:
    """Return how many bytes are missing."""
    return sum(end - start for start, end in gaps)
