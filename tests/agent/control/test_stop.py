"""A wish to stop wakes whoever waits."""

from __future__ import annotations

import asyncio
import os
import signal

from agent.control.stop import StopRequest
from shared.messages import Message


def test_waiting_ends_with_the_wish() -> None:
    """A pause of an hour is over when the agent is to stop; the first reason stays."""

    async def work() -> StopRequest:
        stopping = StopRequest()
        waiting = asyncio.ensure_future(stopping.pause(3600.0))
        await asyncio.sleep(0)
        stopping.request(Message("agent.stop_drained"))
        stopping.request(Message("agent.stop_error"))
        await waiting
        return stopping

    stopping = asyncio.run(work())
    assert (stopping.is_requested, stopping.reason) == (True, Message("agent.stop_drained"))


def test_signals_are_a_wish() -> None:
    """SIGTERM asks; it does not end the process in the middle of something."""

    async def work() -> Message | None:
        stopping = StopRequest()
        stopping.handle_signals()
        os.kill(os.getpid(), signal.SIGTERM)
        await stopping.pause(3600.0)
        stopping.restore_signals()
        return stopping.reason

    assert asyncio.run(work()) == Message("agent.stop_signal", signal="SIGTERM")


def test_a_pause_without_a_wish_ends_by_itself() -> None:
    """Nothing is asked for when the time is over."""

    async def work() -> bool:
        stopping = StopRequest()
        await stopping.pause(0.0)
        return stopping.is_requested

    assert not asyncio.run(work())


def test_all_who_pause_are_woken_and_one_may_give_up() -> None:
    """A pause that was cancelled is nobody's business any more; after the wish nobody waits."""

    async def work() -> list[BaseException | None]:
        stopping = StopRequest()
        pauses = [asyncio.ensure_future(stopping.pause(3600.0)) for _ in range(3)]
        await asyncio.sleep(0)
        pauses[0].cancel()
        await asyncio.sleep(0)
        stopping.request(Message("agent.stop_drained"))
        await stopping.pause(3600.0)
        return await asyncio.gather(*pauses, return_exceptions=True)

    first, *others = asyncio.run(work())
    assert isinstance(first, asyncio.CancelledError)
    assert others == [None, None]
