"""Child processes for work of seconds: reading segments, making large plans, learning distances.

Invariant: a child has no database handle, ignores the signals that stop the server (the parent
ends it), and ends by itself when the parent is killed. The death of a child, also by its limits,
has no other effect: another takes its place, and the caller is asked to retry.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, TypeVar, cast

from manager.errors import BusyError
from manager.intake.workers.worker_process import (
    Limits,
    MemoryExceededError,
    WorkerDiedError,
    WorkerProcess,
)

__all__ = ["Limits", "Workers"]

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

JOBS_OF_A_CHILD: Final = 200
"""Then a fresh one takes its place: allocators keep what a large job once needed."""


class Workers:
    """Some child processes; any thread may ask, and waits. `close` ends the children."""

    def __init__(self, processes: int, limits: Limits | None = None) -> None:
        """limits: of each child; None: its jobs have their own limits."""
        self._processes = processes
        self._limits = limits
        self._changed = threading.Condition()
        self._idle: list[WorkerProcess] = []
        self._busy: set[WorkerProcess] = set()
        self._ended = False

    def run_here(self, function: Callable[[_Job], _Result], job: _Job) -> _Result:
        """Return function(job) from a child; raises what it raises, BusyError where it died."""
        process = self._take()
        stays = True
        try:
            process.send(function, job, None if self._limits is None else self._limits.cpu_s)
            return cast("_Result", process.result())
        except (WorkerDiedError, MemoryExceededError) as error:
            stays = False
            raise self._explained() from error
        finally:
            self._give_back(process, stays=stays and process.jobs < JOBS_OF_A_CHILD)

    def rest(self) -> None:
        """End the children that have no job, and free what they hold."""
        with self._changed:
            idle, self._idle = self._idle, []
        for process in idle:
            process.close()

    def end(self) -> None:
        """Kill the children in their work; the waiting callers get an error."""
        with self._changed:
            self._ended = True
            for process in self._busy:
                process.kill()
            self._changed.notify_all()

    def close(self) -> None:
        """End the children; a job that still runs is waited for."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._busy)
        self.rest()

    def _take(self) -> WorkerProcess:
        """Return a child for one job, when there is one."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or len(self._busy) < self._processes)
            if self._ended:
                raise BusyError("uploads.manager_stops")
            memory_bytes = None if self._limits is None else self._limits.memory_bytes
            process = (
                self._idle.pop() if self._idle else WorkerProcess(memory_bytes, keep_memory=False)
            )
            self._busy.add(process)
            return process

    def _give_back(self, process: WorkerProcess, *, stays: bool) -> None:
        if not stays:
            process.close()
        with self._changed:
            self._busy.discard(process)
            if stays:
                self._idle.append(process)
            self._changed.notify_all()

    def _explained(self) -> BusyError:
        """Return the error of a caller whose child died."""
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
