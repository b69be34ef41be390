"""How fast segments are sent."""

from __future__ import annotations

from agent.collection.allowance import Pace


def test_bytes_go_at_their_rate() -> None:
    """Ten seconds' worth takes ten seconds, but for the quarter that may go at once."""
    now_s = 0.0
    pace = Pace(lambda: 1_000_000, clock=lambda: now_s)
    for _ in range(160):
        now_s += pace.wait_s(62_500)
    assert 9.7 < now_s <= 10.0


def test_a_pause_is_not_made_up_for() -> None:
    """After an idle hour no burst follows."""
    now_s = 0.0
    pace = Pace(lambda: 1000, clock=lambda: now_s)
    now_s += pace.wait_s(1000)
    now_s += 3600
    now_s += pace.wait_s(1000)
    assert 3601.5 < now_s <= 3602.0


def test_a_limit_may_change() -> None:
    """It is asked for each time; 0 is none."""
    now, limit = 0.0, 1000
    pace = Pace(lambda: limit, clock=lambda: now)
    assert pace.wait_s(1000) == 1.0
    limit = 0
    assert pace.wait_s(10**9) == 0
    limit = 2000
    now = 100.0
    assert pace.wait_s(2000) == 0.75
