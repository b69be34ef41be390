"""Readings shared by requests: a sender that repeats the same body joins the running reading.

A reading that takes longer than its sender may wait is kept for a while, so that the sender finds
it done at its next try. Invariants: a reading whose last sender has disconnected is cancelled; one
sender has one reading kept, the others are cancelled with their requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, TypeVar

from manager.errors import BusyError

__all__ = ["KeptReadings"]

KEPT_S: Final = 120.0
"""How long a reading continues for a sender that was asked to retry."""

RETRY_S: Final = 15

_Result = TypeVar("_Result")


class _SharedRead(Generic[_Result]):
    def __init__(self, sender: int, task: asyncio.Task[_Result]) -> None:
        self.sender = sender
        self.task = task
        self.waiters = 0
        self.timer: asyncio.TimerHandle | None = None

    def leave(self) -> None:
        """Cancel the reading if no request waits."""
        if not self.waiters and self.timer is None:
            self.task.cancel()

    def forget(self) -> None:
        self.timer = None
        self.leave()


class KeptReadings(Generic[_Result]):
    """The readings under way, by sender and digest of the body. For one event loop."""

    def __init__(self, answer_s: float) -> None:
        """answer_s: how long a request waits."""
        self._answer_s = answer_s
        self._under_way: dict[tuple[int, str], _SharedRead[_Result]] = {}

    def is_under_way(self, sender: int, digest: str) -> bool:
        """Return whether a request would join a reading."""
        return (sender, digest) in self._under_way

    async def wait(
        self,
        sender: int,
        digest: str,
        begin: Callable[[], Coroutine[Any, Any, _Result]] | None = None,
    ) -> _Result:
        """Return what a reading comes to.

        begin: begins it where it is not under way. Raises what it raises; BusyError where it takes
        longer than a request waits.
        """
        reading = self._under_way.get((sender, digest))
        if reading is None:
            assert begin is not None
            reading = self._begun(sender, digest, begin)
        reading.waiters += 1
        if reading.timer is not None:
            reading.timer.cancel()
            reading.timer = None
        try:
            async with asyncio.timeout(self._answer_s):
                return await asyncio.shield(reading.task)
        except TimeoutError as error:
            if not self._has_kept(sender):
                loop = asyncio.get_running_loop()
                reading.timer = loop.call_later(KEPT_S, reading.forget)
            raise BusyError(
                "uploads.still_read",
                retry_after_s=RETRY_S,
                answer_s=self._answer_s,
                retry_s=RETRY_S,
            ) from error
        finally:
            reading.waiters -= 1
            reading.leave()

    def _begun(
        self, sender: int, digest: str, begin: Callable[[], Coroutine[Any, Any, _Result]]
    ) -> _SharedRead[_Result]:
        key = (sender, digest)
        task = asyncio.create_task(begin())
        reading = self._under_way[key] = _SharedRead(sender, task)

        def over(task: asyncio.Task[_Result]) -> None:
            """Remove a reading that ended, and its timer."""
            del self._under_way[key]
            if reading.timer is not None:
                reading.timer.cancel()
            if not task.cancelled():
                task.exception()  # no request may be left to hear of it

        task.add_done_callback(over)
        return reading

    def _has_kept(self, sender: int) -> bool:
        return any(
            one.sender == sender and one.timer is not None for one in self._under_way.values()
        )
