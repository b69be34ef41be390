"""Which bytes are missing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from manager.operations.segments.upload_bytes import (
    filled,
    missing_bytes,
    offset_of,
    read_gaps,
    write_gaps,
)

SIZE = 40
RANGES = st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).map(lambda pair: tuple(sorted(pair)))


@given(st.lists(RANGES, max_size=10))
def test_gaps_are_what_never_came(ranges: list[tuple[int, int]]) -> None:
    """After any pieces in any order the gaps hold exactly the other bytes, in order and apart."""
    gaps: tuple[tuple[int, int], ...] = ((0, SIZE),)
    came: set[int] = set()
    for start, end in ranges:
        gaps = filled(gaps, start, end)
        came |= set(range(start, end))
    missing = [byte for start, end in gaps for byte in range(start, end)]
    assert missing == sorted(set(range(SIZE)) - came)
    assert missing_bytes(gaps) == len(missing)
    assert offset_of(gaps, SIZE) == (missing[0] if missing else SIZE)
    assert read_gaps(write_gaps(gaps)) == gaps
