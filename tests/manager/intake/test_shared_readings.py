"""A reading lasts as long as somebody waits for it, or may come back for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from manager.errors import BusyError
from manager.intake.shared_readings import KeptReadings


class Work:
    """A reading that ends when it is told to."""

    def __init__(self) -> None:
        self.begun = 0
        self.cancelled = False
        self.gate = asyncio.Event()

    async def run(self) -> str:
        self.begun += 1
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return "read"


def run(steps: Coroutine[Any, Any, None]) -> None:
    asyncio.run(steps)


def test_who_comes_with_the_same_body_joins_in() -> None:
    """It is read once, and both hear of it; a third one later begins anew."""

    async def steps() -> None:
        readings: KeptReadings[str] = KeptReadings(60)
        work = Work()
        both = [asyncio.ensure_future(readings.wait(1, "a", work.run)) for _ in range(2)]
        await asyncio.sleep(0)
        assert readings.is_under_way(1, "a")
        assert not readings.is_under_way(2, "a")
        work.gate.set()
        assert await asyncio.gather(*both) == ["read", "read"]
        assert work.begun == 1
        assert not readings.is_under_way(1, "a")
        assert await readings.wait(1, "a", work.run) == "read"

    run(steps())


def test_a_reading_ends_when_the_last_sender_has_gone() -> None:
    """One that goes leaves it to the other; the last one takes it along."""

    async def steps() -> None:
        readings: KeptReadings[str] = KeptReadings(60)
        work = Work()
        one, other = (asyncio.ensure_future(readings.wait(1, "a", work.run)) for _ in range(2))
        await asyncio.sleep(0)
        one.cancel()
        await asyncio.gather(one, return_exceptions=True)
        await asyncio.sleep(0)
        assert not work.cancelled
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
        await asyncio.sleep(0)
        assert work.cancelled
        assert not readings.is_under_way(1, "a")

    run(steps())


def test_a_long_reading_is_kept_for_who_is_told_to_come_back() -> None:
    """It is answered 503 with when to come; who comes finds it done, without a second reading."""

    async def steps() -> None:
        readings: KeptReadings[str] = KeptReadings(0.01)
        work = Work()
        with pytest.raises(BusyError, match=r"intake\.answer_timeout_s") as caught:
            await readings.wait(1, "a", work.run)
        assert caught.value.retry_after_s > 0
        assert not work.cancelled
        work.gate.set()
        assert await readings.wait(1, "a", work.run) == "read"
        assert work.begun == 1

    run(steps())


def test_one_sender_has_one_reading_kept() -> None:
    """The second long one ends with its request."""

    async def steps() -> None:
        readings: KeptReadings[str] = KeptReadings(0.01)
        first, second = Work(), Work()
        for digest, work in (("a", first), ("b", second)):
            with pytest.raises(BusyError):
                await readings.wait(1, digest, work.run)
        await asyncio.sleep(0)
        assert (first.cancelled, second.cancelled) == (False, True)

    run(steps())


def test_nobody_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reading that nobody asks for again is cancelled after a while."""
    monkeypatch.setattr("manager.intake.shared_readings.KEPT_S", 0.01)

    async def steps() -> None:
        readings: KeptReadings[str] = KeptReadings(0.01)
        work = Work()
        with pytest.raises(BusyError):
            await readings.wait(1, "a", work.run)
        async with asyncio.timeout(10):
            while not work.cancelled:  # noqa: ASYNC110  # a timer of the loop changes it
                await asyncio.sleep(0.01)

    run(steps())
