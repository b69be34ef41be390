"""Threads of requests, in turns by sender: one with many slow requests leaves threads to others.

A request waits in a thread for the database or the disk. A sender with the most searches, lists or
joins gets `OF_A_SENDER` of them at a time; waiting requests take turns by the cost of their
senders, as bodies do (`turn_queue`). A sender is an address until it is authenticated. Work of the
manager itself, as the shared look-up of keys that many requests wait for, goes before all.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

from manager.intake.workers.turn_queue import TurnQueue
from manager.operations.request_senders import OWN, sender

__all__ = ["OF_A_SENDER", "THREADS", "RequestThreads"]

THREADS: Final = 64
"""Requests wait in threads for the database and the disk; a writer may wait 30 s for its turn."""

OF_A_SENDER: Final = 8
"""A browser has six requests under way, an agent eight (`collection.chunks_per_agent`)."""

_P = ParamSpec("_P")
_Result = TypeVar("_Result")


@dataclass(eq=False)
class _Work:
    function: Callable[[], Any]
    sender: str
    future: Future[Any] = field(default_factory=Future)


class RequestThreads(ThreadPoolExecutor):
    """The threads; the event loop's default executor."""

    def __init__(self, threads: int = THREADS, of_a_sender: int = OF_A_SENDER) -> None:
        super().__init__(threads, thread_name_prefix="request")
        self._of_a_sender = of_a_sender
        self._changing = threading.Lock()
        self._free = threads
        self._own: deque[_Work] = deque()
        self._queue: TurnQueue[_Work] = TurnQueue()
        self._running: Counter[str] = Counter()
        self._ended = False

    @property
    def waiting(self) -> int:
        """Return how many wait for a thread."""
        with self._changing:
            return len(self._own) + len(self._queue)

    def submit(
        self, fn: Callable[_P, _Result], /, *args: _P.args, **kwargs: _P.kwargs
    ) -> Future[_Result]:
        """Call a function in a thread when it is its sender's turn."""
        work = _Work(partial(fn, *args, **kwargs), sender())
        with self._changing:
            if self._ended:
                raise RuntimeError("cannot schedule new futures after shutdown")
            if work.sender == OWN:
                self._own.append(work)
            else:
                self._queue.push(work.sender, work)
            self._dispatch()
        return work.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more work; cancel the waiting work."""
        with self._changing:
            self._ended = True
            left = [*self._own, *self._queue.clear()]
            self._own.clear()
        for work in left:
            work.future.cancel()
        super().shutdown(wait, cancel_futures=cancel_futures)

    def _dispatch(self) -> None:
        """Assign threads to work as long as there are both; under the lock."""
        while self._free and not self._ended:
            work = self._own.popleft() if self._own else self._queue.pop(self._busy())
            if work is None:
                return
            self._free -= 1
            self._running[work.sender] += 1
            super().submit(self._do, work)

    def _busy(self) -> set[str]:
        return {name for name, count in self._running.items() if count >= self._of_a_sender}

    def _do(self, work: _Work) -> None:
        begun_s = time.monotonic()
        if work.future.set_running_or_notify_cancel():
            try:
                work.future.set_result(work.function())
            except BaseException as error:  # noqa: BLE001  # told to who asked
                work.future.set_exception(error)
        with self._changing:
            self._free += 1
            self._running[work.sender] -= 1
            if not self._running[work.sender]:
                del self._running[work.sender]
            if work.sender != OWN:
                self._queue.charge(work.sender, time.monotonic() - begun_s)
            self._dispatch()
