"""How fast all answers together may come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.adapters.curl.rate_limit import RateLimit


def test_without_a_limit_everything_passes() -> None:
    """0 is no limit."""
    rate = RateLimit(0, 0.0)
    assert all(rate.take(10**9, 0.0) for _ in range(100))
    assert rate.wait_s() == 0


def test_an_empty_bucket_says_when_to_come_back() -> None:
    """After the time that is named something may be received again."""
    rate = RateLimit(1000, 0.0)
    assert rate.take(3000, 0.0)
    assert not rate.take(1, 0.0)
    wait_s = rate.wait_s()
    assert 2 < wait_s < 2.1
    assert not rate.take(1, wait_s / 2)
    assert rate.take(1, wait_s)


def test_a_limit_may_change() -> None:
    """A stricter one holds at once; what was saved under the old one is not kept."""
    rate = RateLimit(1_000_000, 0.0)
    rate.change(10, 5.0)
    assert rate.take(1000, 5.0)
    assert not rate.take(1, 6.0)
    rate.change(0, 6.0)
    assert rate.take(10**9, 6.0)


@given(st.lists(st.tuples(st.integers(1, 5000), st.floats(0, 0.5)), min_size=1, max_size=200))
def test_the_sum_never_exceeds_the_rate(pieces: list[tuple[int, float]]) -> None:
    """Over any time: the rate times it, a second's worth and one piece at most."""
    rate, now_s, taken = RateLimit(1000, 0.0), 0.0, 0
    for size_bytes, pause_s in pieces:
        now_s += pause_s
        taken += size_bytes * rate.take(size_bytes, now_s)
        assert taken <= 1000 * (now_s + 1) + 5000 + 1
