"""The requests under way that go without libcurl (`raw_request.py`), under the common limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from agent.adapters.curl.blocks import Site
from agent.adapters.curl.options import FetchOptions
from agent.adapters.curl.rate_limit import RateLimit
from agent.adapters.curl.raw_request import RawRequest
from agent.adapters.held_bytes import HeldBytes
from agent.pipeline.messages.requests import FetchAnswer, FetchRequest, Outcome
from agent.pipeline.ports import Clock

__all__ = ["RawRequests"]

_LOOK_S: Final = 0.05  # between two looks whether there is room again
_Done = Callable[[FetchAnswer], None]


class RawRequests:
    """One task each. Made and used on the loop's thread."""

    def __init__(
        self,
        options: FetchOptions,
        clock: Clock,
        memory: HeldBytes,
        rate: RateLimit,
        refusal: Callable[[], Outcome | None],
        ended: Callable[[_Done, FetchAnswer], None],
    ) -> None:
        """refusal: why nothing may be sent now, or None. ended: called with each answer."""
        self._options = options
        self._clock = clock
        self._memory = memory
        self._rate = rate
        self._refusal = refusal
        self._ended = ended
        self._tasks: dict[asyncio.Task[FetchAnswer], _Done] = {}

    def __len__(self) -> int:
        """Return how many are under way."""
        return len(self._tasks)

    def start(self, request: FetchRequest, site: Site, done: _Done) -> None:
        """Begin one request."""
        raw = RawRequest(request, site, self._options, self._clock, self._memory)
        task = asyncio.get_running_loop().create_task(raw.run(self._refusal, self._wait_for_room))
        self._tasks[task] = done
        task.add_done_callback(self._take)

    def cancel(self) -> None:
        """End them; their answers have the outcome `stopped`."""
        for task in self._tasks:
            task.cancel()

    async def wait(self) -> None:
        """Wait until none is under way."""
        if self._tasks:
            await asyncio.wait(list(self._tasks))

    def _take(self, task: asyncio.Task[FetchAnswer]) -> None:
        done = self._tasks.pop(task)
        self._ended(done, task.result())

    async def _wait_for_room(self, size_bytes: int) -> None:
        while self._memory.crowded:  # noqa: ASYNC110  # there is no event for it
            await asyncio.sleep(_LOOK_S)
        while not self._rate.take(size_bytes, self._clock.monotonic_s()):  # noqa: ASYNC110
            await asyncio.sleep(self._rate.wait_s())
