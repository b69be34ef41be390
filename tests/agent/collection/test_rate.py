"""How fast segments are sent."""

from __future__ import annotations

import asyncio

from agent.collection.rate import Pace, Rate


def test_bytes_go_at_their_rate() -> None:
    """Ten seconds' worth takes ten seconds, but for the quarter that may go at once."""
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    async def send() -> None:
        rate = Rate(1_000_000, clock=lambda: now[0], sleep=sleep)
        for _ in range(160):
            await rate.take(62_500)

    asyncio.run(send())
    assert 9.7 < now[0] <= 10.0


def test_a_pause_is_not_made_up_for() -> None:
    """After an idle hour no burst follows."""
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    async def send() -> None:
        rate = Rate(1000, clock=lambda: now[0], sleep=sleep)
        await rate.take(1000)
        now[0] += 3600
        await rate.take(1000)

    asyncio.run(send())
    assert 3601.5 < now[0] <= 3602.0


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
