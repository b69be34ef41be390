"""Looks at passwords: few at a time, few from one place; who is refused often is answered late."""

from __future__ import annotations

import asyncio

import pytest

from manager.errors import BusyError, SlowDownError
from manager.operations.people.login_gate import GateSize, LoginGate, RefusalHold
from manager.operations.people.login_throttle import LoginWait


def stranger(number: int, delay_s: float = 0.0) -> LoginWait:
    return LoginWait(f"192.0.2.{number}", delay_s, known=False)


def test_one_sender_takes_two_places() -> None:
    """All further ones from there are refused at once; others go in."""

    async def story() -> None:
        gate = LoginGate(at_once=1)
        leave = asyncio.Event()
        inside: list[str] = []

        async def look(wait: LoginWait) -> None:
            async with gate.turn(wait):
                inside.append(wait.source)
                await leave.wait()

        tasks = [asyncio.create_task(look(stranger(1))) for _ in range(30)]
        owner = asyncio.create_task(look(stranger(2)))
        await asyncio.wait(tasks[GateSize().each :])
        refused = [task.exception() for task in tasks[GateSize().each :]]
        assert all(isinstance(error, SlowDownError) for error in refused)
        assert inside == ["192.0.2.1"], "one at a time"
        leave.set()
        await asyncio.gather(*tasks[: GateSize().each], owner)
        assert sorted(inside) == ["192.0.2.1", "192.0.2.1", "192.0.2.2"]
        async with gate.turn(stranger(1)):  # the places are free again
            pass

    asyncio.run(story())


def test_the_places_are_bounded_and_some_are_for_known_devices() -> None:
    """Who comes when all are taken hears it with a time; a known device is let in."""

    async def story() -> None:
        gate = LoginGate(at_once=1)
        leave = asyncio.Event()

        async def look(wait: LoginWait) -> None:
            async with gate.turn(wait):
                await leave.wait()

        waiting = [
            asyncio.create_task(look(stranger(number))) for number in range(GateSize().strange)
        ]
        await asyncio.sleep(0)
        with pytest.raises(
            BusyError,
            match=r"^64 logins are waiting already, .* \(limits.queued_logins\): try again in 2 s",
        ) as busy:
            await look(stranger(200))
        assert busy.value.retry_after_s == 2
        known = [
            asyncio.create_task(look(LoginWait(f"device {number}", 0.0, known=True)))
            for number in range(GateSize().known)
        ]
        await asyncio.sleep(0)
        assert not any(task.done() for task in known)
        with pytest.raises(BusyError):
            await look(LoginWait("device x", 0.0, known=True))
        leave.set()
        await asyncio.gather(*waiting, *known)

    asyncio.run(story())


def test_a_look_that_fails_gives_its_place_back() -> None:
    """Or is given up by whoever asked for it."""

    async def story() -> None:
        gate = LoginGate(at_once=1)
        for _ in range(3 * GateSize().each):
            with pytest.raises(ZeroDivisionError):
                async with gate.turn(stranger(1)):
                    raise ZeroDivisionError
        late = [
            asyncio.create_task(_enter(gate, stranger(1, 3600.0))) for _ in range(GateSize().each)
        ]
        await asyncio.sleep(0)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        async with gate.turn(stranger(1)):
            pass

    asyncio.run(story())


async def _enter(gate: LoginGate, wait: LoginWait) -> None:
    async with gate.turn(wait):
        pass


def test_answers_to_who_is_refused_often_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the forty-first of a minute on; others, and the next minute, are answered at once."""
    held: list[float] = []

    async def sleep(seconds: float) -> None:
        held.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)

    async def story() -> None:
        hold = RefusalHold(hold_s=7.0)
        for _ in range(RefusalHold.FREE + 5):
            await hold.refused("192.0.2.1", 1000)
        assert held == [7.0] * 5
        await hold.refused("192.0.2.2", 1000)
        await hold.refused("192.0.2.1", 61_000)
        assert len(held) == 5
        many = RefusalHold(hold_s=1.0)
        for _ in range(RefusalHold.FREE * (RefusalHold.LONGEST + 1)):
            await many.refused("192.0.2.1", 1000)
        assert (held[5], held[-1], max(held[5:])) == (1.0, 10.0, 10.0), "longer the more they ask"
        del held[5:]
        full = RefusalHold(hold_s=7.0, held_most=0)
        for _ in range(RefusalHold.FREE + 5):
            await full.refused("192.0.2.1", 1000)
        assert len(held) == 5, "no more than so many connections are kept"
        for number in range(RefusalHold.SOURCES + 50):
            await full.refused(f"x{number}", 1000)
        assert len(full._refused) == RefusalHold.SOURCES

    asyncio.run(story())
