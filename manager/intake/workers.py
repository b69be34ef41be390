"""Child processes for what takes seconds: reading logs, making large plans.

Invariant: a child has no database handle, ignores the signals that stop the server (the parent
ends it), and ends by itself when the parent is killed. A child that dies takes nothing with it:
the pool starts another, and who asked is told to come again.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import Final, TypeVar

from manager.errors import BusyError

__all__ = ["Workers"]

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

JOBS_OF_A_CHILD: Final = 200
"""On average; then fresh ones take their place: allocators keep what a large log once needed."""


class Workers:
    """A pool of spawned processes; any thread may ask, `close` ends the children."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._pool: ProcessPoolExecutor | None = None
        self._jobs = 0  # given to this pool
        self._changing = threading.Lock()

    async def run(self, function: Callable[[_Job], _Result], job: _Job) -> _Result:
        """Return function(job) from a child; raises what it raises, BusyError where it died."""
        pool, future = self._submit(function, job)
        try:
            return await asyncio.wrap_future(future)
        except BrokenProcessPool as error:
            raise self._died(pool) from error

    def run_here(self, function: Callable[[_Job], _Result], job: _Job) -> _Result:
        """Return function(job) from a child as `run` does, for a thread that may wait."""
        pool, future = self._submit(function, job)
        try:
            return future.result()
        except BrokenProcessPool as error:
            raise self._died(pool) from error

    def close(self) -> None:
        """End the children; a job that still runs is waited for."""
        with self._changing:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)

    def _submit(
        self, function: Callable[[_Job], _Result], job: _Job
    ) -> tuple[ProcessPoolExecutor, Future[_Result]]:
        # Under the lock, so that no other thread retires the pool in between.
        with self._changing:
            if self._jobs >= JOBS_OF_A_CHILD * self._processes:
                self._retire()
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    self._processes,
                    mp_context=multiprocessing.get_context("spawn"),
                    initializer=_prepare_child,
                )
            self._jobs += 1
            try:
                return self._pool, self._pool.submit(function, job)
            except BrokenProcessPool as error:
                # A child died before it was asked for this; who waits for it is told.
                failed: Future[_Result] = Future()
                failed.set_exception(error)
                return self._pool, failed

    def _retire(self) -> None:
        """Let the pool end when it has done what it was given; the next job begins another.

        Not `max_tasks_per_child`: with it a pool may wait for ever for the successor of a child
        that ended (CPython issue 115634).
        """
        pool, self._pool, self._jobs = self._pool, None, 0
        if pool is not None:
            pool.shutdown(wait=False)

    def _died(self, pool: ProcessPoolExecutor) -> BusyError:
        with self._changing:
            if self._pool is pool:
                self._retire()
        return BusyError(
            "the process that was to do this died; nothing was kept. Try again; if it happens "
            "each time, the administrator should look at the manager's log",
            retry_after_s=60,
        )


def _prepare_child() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="end-with-parent", daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
