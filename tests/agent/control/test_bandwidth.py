"""All fetches together stay under the rate, over any stretch of time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.control.bandwidth import Bandwidth


def test_no_limit() -> None:
    """0 means that nothing is ever held back."""
    bucket = Bandwidth(0, 0.0)
    bucket.take(10**12)
    assert bucket.allows(0.0)


def test_what_came_too_fast_is_waited_for() -> None:
    """After ten seconds' worth at once nothing starts for about ten seconds."""
    bucket = Bandwidth(1000, 0.0)
    bucket.take(10_000)
    assert not bucket.allows(8.9)
    assert bucket.allows(9.1)


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(0, 5000)), min_size=1))
def test_never_more_than_the_rate(steps: list[tuple[float, int]]) -> None:
    """Bytes are the rate times the time, one second's worth, and the last answer, at most."""
    bucket, now_s, total = Bandwidth(1000, 0.0), 0.0, 0
    for wait_s, size in steps:
        now_s += wait_s
        if bucket.allows(now_s):
            bucket.take(size)
            total += size
        assert total <= 1000 * (now_s + 1) + 5000
