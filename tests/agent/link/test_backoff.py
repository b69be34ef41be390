"""Pauses grow to their limit, half of each is random."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from agent.link.call_schedule import Backoff


@given(st.integers(1, 10_000), st.integers(0, 100))
def test_between_half_and_whole(failures: int, seed: int) -> None:
    """min(max, base * 2^n) * (0.5 + random / 2), for any number of failures."""
    pause = Backoff(2.0, 300.0).pause_s(failures, random.Random(seed))
    whole = min(300.0, 2.0 * 2.0 ** min(failures - 1, 20))
    assert whole / 2 <= pause <= whole
