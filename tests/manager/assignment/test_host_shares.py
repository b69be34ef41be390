"""Several agents at one host send together what one would be allowed, whatever their phases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manager.assignment.errors import RuleError
from manager.assignment.host_shares import most_requests, share_ms


@given(
    st.integers(1, 50),
    st.integers(1, 6),
    st.lists(st.integers(0, 1000), min_size=6, max_size=6),
    st.lists(st.integers(0, 30), min_size=6, max_size=6),
    st.integers(0, 2000),
    st.integers(0, 2000),
)
def test_no_span_holds_more_requests_than_the_rate_allows(
    interval_ms: int, agents: int, phases: list[int], took_ms: list[int], begin: int, span: int
) -> None:
    """Each agent rests its share after each request; any phases, any answers, any span of time."""
    share = share_ms(interval_ms, agents)
    times = [
        phase + number * (share + took)
        for phase, took in zip(phases[:agents], took_ms, strict=False)
        for number in range(span // share + 2 + (begin // share))
    ]
    inside = [time for time in times if begin <= time <= begin + span]
    assert len(inside) <= most_requests(span, interval_ms, agents)


def test_the_bound_is_reached() -> None:
    """Agents that all begin at once come as near as is said: two at 10 s, in 20 s two each."""
    assert share_ms(10_000, 2) == 20_000
    assert most_requests(20_000, 10_000, 2) == 4
    assert most_requests(19_999, 10_000, 2) == 2


def test_the_longest_rest_holds() -> None:
    """What a host asked of one is kept by all, unless their share is longer anyway."""
    assert share_ms(10_000, 3, [5_000]) == 30_000
    assert share_ms(10_000, 3, [5_000, 90_000]) == 90_000


def test_numbers_that_mean_nothing_are_refused() -> None:
    """There is no share of nobody, and no rate without an interval."""
    with pytest.raises(RuleError, match="agents = 0"):
        share_ms(1, 0)
    with pytest.raises(RuleError, match="interval_ms = -1"):
        share_ms(-1, 1)
    with pytest.raises(RuleError, match="interval_ms = 0"):
        most_requests(1, 0, 1)
