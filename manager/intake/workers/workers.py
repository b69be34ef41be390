"""Child processes for work of seconds: reading logs, making large plans, learning distances.

Invariant: a child has no database handle, ignores the signals that stop the server (the parent
ends it), and ends by itself when the parent is killed. The death of a child, also by its limits,
has no other effect: the pool starts another, and the caller is asked to retry.
"""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import Connection
from typing import Final, TypeVar

from manager.errors import BusyError
from manager.intake.workers.job_transfer import carried
from manager.intake.workers.worker_process import Limits, limit_cpu, limit_memory, prepare_child

__all__ = ["Limits", "Workers"]

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

JOBS_OF_A_CHILD: Final = 200
"""On average; then fresh ones take their place: allocators keep what a large log once needed."""


class Workers:
    """A pool of spawned processes; any thread may ask, `close` ends the children."""

    def __init__(
        self, processes: int, limits: Limits | None = None, *, keep_memory: bool = False
    ) -> None:
        """limits: of each child; None: its jobs have their own limits.

        keep_memory: a child keeps what it freed for its next need, up to `KEPT_BYTES`.
        """
        self._processes = processes
        self._limits = limits
        self._keep_memory = keep_memory
        self._pool: ProcessPoolExecutor | None = None
        self._jobs = 0  # given to this pool
        self._changing = threading.Lock()
        self._ended = False
        # Children hold the one end; where the other is closed, they end at once.
        self._living, self._life = multiprocessing.Pipe(duplex=False)

    async def run(self, function: Callable[[_Job], _Result], job: _Job) -> _Result:
        """Return function(job) from a child; raises what it raises, BusyError where it died."""
        pool, future = self._submit(function, job)
        try:
            return await asyncio.wrap_future(future)
        except (BrokenProcessPool, MemoryError) as error:
            raise self._died(pool) from error

    def run_here(self, function: Callable[[_Job], _Result], job: _Job) -> _Result:
        """Return function(job) from a child as `run` does, for a thread that may wait."""
        pool, future = self._submit(function, job)
        try:
            return future.result()
        except (BrokenProcessPool, MemoryError) as error:
            raise self._died(pool) from error

    def begin(self, module: str) -> None:
        """Start a child where there is none, so that the next job need not wait for it.

        module: what it imports meanwhile, because the next job's function is there.
        """
        with self._changing:
            if self._pool is None and not self._ended:
                self._give(_import, module)

    def rest(self) -> None:
        """End the children when they have finished, and free what they hold."""
        with self._changing:
            self._retire()

    def end(self) -> None:
        """Kill the children in their work; the waiting callers get an error."""
        with self._changing:
            self._ended = True
            self._life.close()

    def close(self) -> None:
        """End the children; a job that still runs is waited for."""
        with self._changing:
            self._ended = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)
        self._life.close()
        self._living.close()

    def _submit(
        self, function: Callable[[_Job], _Result], job: _Job
    ) -> tuple[ProcessPoolExecutor, Future[_Result]]:
        # Under the lock, so that no other thread retires the pool in between.
        with self._changing:
            if self._ended:
                raise BusyError("uploads.manager_stops")
            if self._jobs >= JOBS_OF_A_CHILD * self._processes:
                self._retire()
            return self._give(function, job)

    def _give(
        self, function: Callable[[_Job], _Result], job: _Job
    ) -> tuple[ProcessPoolExecutor, Future[_Result]]:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._processes,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_prepare_child,
                initargs=(self._limits, self._living, self._keep_memory),
            )
        self._jobs += 1
        if self._limits is not None:
            function = partial(_within, self._limits.cpu_s, function)
        try:
            return self._pool, carried(function, job, self._pool.submit)
        except BrokenProcessPool as error:
            # A child died before this job was submitted; the waiting caller gets the error.
            failed: Future[_Result] = Future()
            failed.set_exception(error)
            return self._pool, failed

    def _retire(self) -> None:
        """End the pool after its jobs; the next job starts another.

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
            if self._ended:
                return BusyError("uploads.manager_stops")
        if self._limits is None:
            return BusyError("uploads.worker_died", retry_after_s=60)
        return BusyError(
            "uploads.worker_died_in_limits",
            retry_after_s=60,
            memory_bytes=self._limits.memory_bytes,
            cpu_s=self._limits.cpu_s,
        )


def _prepare_child(limits: Limits | None, living: Connection, keep_memory: bool) -> None:
    prepare_child(living, keep_memory=keep_memory)
    if limits is not None:
        limit_memory(limits.memory_bytes)


def _within(cpu_s: float, function: Callable[[_Job], _Result], job: _Job) -> _Result:
    """Return function(job); the kernel ends this process where it takes more of a processor."""
    limit_cpu(cpu_s)
    return function(job)


def _import(module: str) -> None:
    """Import a module in a running child."""
    importlib.import_module(module)
