"""Child processes for what takes seconds: reading logs, making large plans, learning distances.

Invariant: a child has no database handle, ignores the signals that stop the server (the parent
ends it), and ends by itself when the parent is killed. A child that dies, also of its limits, takes
nothing with it: the pool starts another, and who asked is told to come again.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import math
import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Final, TypeVar

from manager.errors import BusyError
from manager.intake.carrying import carried
from shared.frozen import frozen

__all__ = ["Limits", "Workers"]

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

JOBS_OF_A_CHILD: Final = 200
"""On average; then fresh ones take their place: allocators keep what a large log once needed."""

KEPT_BYTES: Final = 256 * 1024**2
"""What a child that keeps its memory gives back of it: what is beyond."""

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_LARGEST_OF_THE_HEAP: Final = 32 * 1024**2  # the most that mallopt takes


@frozen
class Limits:
    """What a child may take. memory_bytes: of addresses, besides those that it begins with; these
    are mostly stacks of threads, of which there are many where there are many processors. cpu_s: of
    a processor, for one job.
    """

    memory_bytes: int
    cpu_s: float


class Workers:
    """A pool of spawned processes; any thread may ask, `close` ends the children."""

    def __init__(
        self, processes: int, limits: Limits | None = None, *, keep_memory: bool = False
    ) -> None:
        """limits: of each child; None: its jobs have limits of their own.

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
        """Let the children end, and give back what they hold, when they have done what they do."""
        with self._changing:
            self._retire()

    def end(self) -> None:
        """End the children in the middle of what they do; who waits for it is told."""
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
                raise BusyError("the manager stops: try again when it is back")
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
            if self._ended:
                return BusyError("the manager stops: try again when it is back")
        within = ""
        if self._limits is not None:
            within = (
                f" (it may take {self._limits.memory_bytes} bytes of memory and"
                f" {self._limits.cpu_s:g} s of a processor)"
            )
        return BusyError(
            f"the process that was to do this died{within}; nothing was kept. Try again; if it "
            "happens each time, the administrator should look at the manager's log",
            retry_after_s=60,
        )


def _prepare_child(limits: Limits | None, living: Connection, keep_memory: bool) -> None:
    if keep_memory:
        _keep_memory()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(
        target=_end_with_parent, args=(living,), name="end-with-parent", daemon=True
    ).start()
    if limits is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        most_bytes = _addresses_bytes() + limits.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))


def _keep_memory() -> None:
    """Let malloc give back less, and Arrow take its memory there: who fills megabytes by turns has
    the kernel clear them each time.

    Source: mallopt(3), of the GNU C library; others have no such function, and no such thrift.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # read when Arrow is imported
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGEST_OF_THE_HEAP)
        mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)


def _end_with_parent(living: Connection) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel, living])
    os._exit(1)


def _addresses_bytes() -> int:
    """Return how many addresses this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _within(cpu_s: float, function: Callable[[_Job], _Result], job: _Job) -> _Result:
    """Return function(job); the kernel ends this process where it takes more of a processor."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most_s = math.ceil(time.process_time() + cpu_s)
    resource.setrlimit(resource.RLIMIT_CPU, (most_s, hard))
    return function(job)


def _import(module: str) -> None:
    """Have a module in a child that is there then."""
    importlib.import_module(module)
