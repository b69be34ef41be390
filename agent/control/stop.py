"""Stop requests of a running agent: SIGTERM, SIGINT, or its own reason."""

from __future__ import annotations

import asyncio
import signal

from shared.messages import Message

__all__ = ["StopRequest"]


class StopRequest:
    """The request to stop: set once; everything that waits, waits for this too."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._pausing: set[asyncio.Future[None]] = set()
        self.reason: Message | None = None

    @property
    def is_requested(self) -> bool:
        """Return whether the agent is to stop."""
        return self._event.is_set()

    def request(self, reason: Message) -> None:
        """Request the stop; the first reason stays."""
        if not self._event.is_set():
            self.reason = reason
            self._event.set()
            for pause in self._pausing:
                _end(pause)

    async def wait(self) -> None:
        """Wait until the agent is to stop."""
        await self._event.wait()

    async def pause(self, seconds: float) -> None:
        """Wait so long, or until the agent is to stop.

        Six of these end each second, all day long: `asyncio.wait_for` would make a task for each,
        and wake the loop four times.
        """
        if self.is_requested:
            return
        loop = asyncio.get_running_loop()
        pause = loop.create_future()
        timer = loop.call_later(max(0.0, seconds), _end, pause)
        self._pausing.add(pause)
        try:
            await pause
        finally:
            timer.cancel()
            self._pausing.discard(pause)

    def handle_signals(self) -> None:
        """Take SIGTERM and SIGINT as requests to stop, for as long as the loop runs."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            reason = Message("agent.stop_signal", signal=signal.Signals(number).name)
            loop.add_signal_handler(number, self.request, reason)

    def restore_signals(self) -> None:
        """Restore the default handling of the signals."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


def _end(pause: asyncio.Future[None]) -> None:
    if not pause.done():
        pause.set_result(None)
