"""How fast segments are sent, and in which hours."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import UTC, datetime
from pathlib import Path

from agent.collection.rate import Rate, hours_of
from agent.settings import Settings


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


def test_hours_are_the_sites() -> None:
    """Of the settings, in the zone of the windows."""
    settings = Settings(home=Path("/nowhere"))
    collection = dataclasses.replace(
        settings.collection, weekday=("02:00-06:00",), weekend=("00:00-24:00",)
    )
    windows = dataclasses.replace(settings.windows, zone="Asia/Tokyo")
    hours = hours_of(dataclasses.replace(settings, collection=collection, windows=windows))
    assert hours.is_open(datetime(2026, 11, 23, 18, 0, tzinfo=UTC))  # Tuesday, 03:00 in Tokyo
    assert not hours.is_open(datetime(2026, 11, 23, 3, 0, tzinfo=UTC))  # Monday noon
