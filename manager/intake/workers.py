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
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import Final, TypeVar

from manager.errors import BusyError

__all__ = ["Workers"]

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

JOBS_OF_A_CHILD: Final = 200
"""Then a fresh one takes its place: allocators keep what a large log once needed."""


class Workers:
    """A pool of spawned processes; any thread may ask, `close` ends the children."""

    def __init__(self, processes: int) -> None:
        self._processes = processes
        self._pool: ProcessPoolExecutor | None = None
        self._changing = threading.Lock()

    async def run(self, function: Callable[[_Job], _Result], job: _Job) -> _Result:
        """Return function(job) from a child; raises what it raises, BusyError where it died."""
        pool = self._started()
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, function, job)
        except BrokenProcessPool as error:
            raise self._died(pool) from error

    def run_here(self, function: Callable[[_Job], _Result], job: _Job) -> _Result:
        """Return function(job) from a child as `run` does, for a thread that may wait."""
        pool = self._started()
        try:
            return pool.submit(function, job).result()
        except BrokenProcessPool as error:
            raise self._died(pool) from error

    def close(self) -> None:
        """End the children; a job that still runs is waited for."""
        with self._changing:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)

    def _started(self) -> ProcessPoolExecutor:
        with self._changing:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    self._processes,
                    mp_context=multiprocessing.get_context("spawn"),
                    initializer=_prepare_child,
                    max_tasks_per_child=JOBS_OF_A_CHILD,
                )
            return self._pool

    def _died(self, pool: ProcessPoolExecutor) -> BusyError:
        with self._changing:
            if self._pool is pool:
                self._pool = None
        pool.shutdown(wait=False)
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
