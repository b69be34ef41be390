"""Worker processes that read bodies from the network, in turns by sender.

A sender has one job at a time, and its next one waits behind those of every other sender. A job
that takes longer than a turn continues beside the others, in one of a few places for such jobs, and
another process takes the next job; after many turns it continues at a low priority. If these
places are taken, it is killed and starts again when one is free. So a job waits for the turns of
other senders, never for all of their work. Invariants: a job for which no request waits is killed
at once, even in the middle; a process that dies, of whatever cause, is replaced; the number of
processes is fixed.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

from manager.errors import BusyError
from manager.intake.body_errors import BodyLimitError
from manager.intake.workers.body_job import BodyJob
from manager.intake.workers.turn_queue import TurnQueue
from manager.intake.workers.worker_process import (
    MemoryExceededError,
    WorkerDiedError,
    WorkerProcess,
)
from shared.errors import Fault
from shared.frozen import frozen

__all__ = ["BodyWorkers", "Pool"]

JOBS_OF_A_CHILD: Final = 200
"""Then a fresh one takes its place: allocators keep what a large log once needed."""

LOOK_S: Final = 0.25
"""How often a job that is over its turn looks for a place."""

SLOW_TURNS: Final = 10
"""Turns after which a job continues at a low priority. Its process cannot raise it again, and ends
after the job."""

REST_LOOKS: Final = 6
"""Calls of `begin` without a job in between, after which processes beyond the first ones go."""

MEMORY_SETTING: Final = "intake.worker_memory_bytes"

CPU_GRACE_S: Final = 5.0
"""A job counts its processor time, too, and says more of it than the kernel can."""


_Job = TypeVar("_Job", bound=BodyJob)
_Result = TypeVar("_Result")


@frozen
class Pool:
    """Number of processes, and the limits of each.

    processes: for jobs within their time slice. long_processes: for jobs beyond it.
    time_slice_s: by the clock.
    memory_bytes: of addresses; None: unlimited. modules: what each imports before its first job.
    """

    processes: int = 1
    long_processes: int = 2
    time_slice_s: float = 2.0
    memory_bytes: int | None = None
    modules: tuple[str, ...] = ()


@dataclass(eq=False)
class _Task:
    function: Callable[[Any], Any]
    job: BodyJob
    future: Future[Any] = field(default_factory=Future)
    process: WorkerProcess | None = None
    is_long: bool = False
    is_given_up: bool = False
    begins_again: bool = False


class BodyWorkers:
    """The processes; any thread may ask, `close` ends them."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._changing = threading.Lock()
        self._short: TurnQueue[_Task] = TurnQueue()
        self._long: TurnQueue[_Task] = TurnQueue()
        self._running: set[_Task] = set()
        self._idle: list[WorkerProcess] = []
        self._looks = 0  # calls of `begin` since there was a job
        self._ended = False

    async def run(self, function: Callable[[_Job], _Result], job: _Job) -> _Result:
        """Return function(job) from a child; raises what it raises.

        BodyLimitError: it took more of a processor, or of memory, than it may. BusyError: its
        process died. Where the caller is cancelled, so is the job.
        """
        task = self._submit(function, job)
        try:
            return await asyncio.wrap_future(task.future)
        except asyncio.CancelledError:
            self._give_up(task)
            raise

    @property
    def waiting(self) -> int:
        """Return how many jobs wait for a process."""
        with self._changing:
            return len(self._short) + len(self._long)

    @property
    def running(self) -> int:
        """Return how many jobs are being done."""
        with self._changing:
            return len(self._running)

    def begin(self) -> None:
        """Start a process where none is ready, so that the next job need not wait for it.

        End those that have had no job for a while. Called by the clock.
        """
        with self._changing:
            self._looks += 1
            rested = []
            if self._running:
                self._looks = 0
            elif self._looks > REST_LOOKS:
                rested = self._idle[self._pool.processes :]
                del self._idle[self._pool.processes :]
            if not self._ended and not self._idle and len(self._of(False)) < self._pool.processes:
                self._idle.append(self._started())
        for process in rested:
            process.close()

    def end(self) -> None:
        """Kill all processes in their work; the waiting requests get an error."""
        with self._changing:
            self._ended = True
            waiting = self._short.clear() + self._long.clear()
            idle, self._idle = self._idle, []
            for task in self._running:
                if task.process is not None:
                    task.process.kill()
        for task in waiting:
            _fail(task, _stop_workers())
        for process in idle:
            process.close()

    def close(self) -> None:
        """End all processes, and wait until they have ended."""
        self.end()
        with self._changing:
            left = [task.process for task in self._running if task.process is not None]
        for process in left:
            process.close()

    def _submit(self, function: Callable[[Any], Any], job: BodyJob) -> _Task:
        task = _Task(function, job, is_long=job.is_long)
        with self._changing:
            if self._ended:
                raise _stop_workers()
            (self._long if task.is_long else self._short).push(job.sender, task)
            self._dispatch()
        return task

    def _give_up(self, task: _Task) -> None:
        with self._changing:
            task.is_given_up = True
            if (
                not (
                    self._short.remove(task.job.sender, task)
                    or self._long.remove(task.job.sender, task)
                )
                and task.process is not None
            ):
                task.process.kill()  # fmt: skip

    def _of(self, is_long: bool) -> set[_Task]:
        return {task for task in self._running if task.is_long is is_long}

    def _dispatch(self) -> None:
        """Assign jobs to processes as long as there are both; under the lock."""
        for is_long, queue, most in (
            (False, self._short, self._pool.processes),
            (True, self._long, self._pool.long_processes),
        ):
            running = self._of(is_long)
            while not self._ended and len(running) < most:
                task = queue.pop({one.job.sender for one in running})
                if task is None:
                    break
                task.process = self._idle.pop() if self._idle else self._started()
                running.add(task)
                self._running.add(task)
                threading.Thread(
                    target=self._serve, args=(task, task.process), name="body-worker", daemon=True
                ).start()

    def _started(self) -> WorkerProcess:
        pool = self._pool
        return WorkerProcess(pool.memory_bytes, keep_memory=True, modules=pool.modules)

    def _serve(self, task: _Task, process: WorkerProcess) -> None:
        """Run a job in a separate thread."""
        begun_s, result = time.monotonic(), cast("object", None)
        failed: BaseException | None = None
        try:
            process.send(task.function, task.job, task.job.cpu_s + CPU_GRACE_S)
            self._watch_turn(task, process)
            result = process.result()
        except BaseException as error:  # noqa: BLE001  # told to who asked
            failed = error
        cost_s = time.monotonic() - begun_s
        begins_again, stays = self._take_out(task, process, failed, cost_s)
        if not stays:
            process.close()
        if begins_again:
            return
        if failed is not None:
            _fail(task, self._explained(failed, task.job))
        elif task.future.set_running_or_notify_cancel():
            task.future.set_result(result)

    def _watch_turn(self, task: _Task, process: WorkerProcess) -> None:
        """Wait for a result; where it takes longer than a turn, let others go first."""
        patience_s = self._pool.time_slice_s
        while not task.is_long:
            if process.wait(patience_s):
                return
            patience_s = LOOK_S
            with self._changing:
                if len(self._of(True)) < self._pool.long_processes:
                    task.is_long = True
                    if not self._ended and not self._idle:
                        self._idle.append(self._started())
                    self._dispatch()
                elif len(self._short):
                    # All places are taken, and others wait: it begins again when it has one.
                    task.begins_again = True
                    process.kill()
                    break
        if not process.wait(SLOW_TURNS * self._pool.time_slice_s):
            process.lower_priority()
            process.wait(None)

    def _take_out(
        self, task: _Task, process: WorkerProcess, failed: BaseException | None, cost_s: float
    ) -> tuple[bool, bool]:
        """Take a job out; return whether it begins again, and whether its process stays."""
        with self._changing:
            self._running.discard(task)
            task.process = None
            for queue in (self._short, self._long):
                queue.charge(task.job.sender, cost_s)
            again = task.begins_again and not task.is_given_up and not self._ended
            task.begins_again = False
            if again:
                task.is_long = True
                self._long.push(task.job.sender, task)
            stays = not (
                again or task.is_given_up or self._ended or process.is_slow
                or isinstance(failed, WorkerDiedError | MemoryExceededError)
                or process.jobs >= JOBS_OF_A_CHILD
            )  # fmt: skip
            if stays:
                self._idle.append(process)
            self._dispatch()
            return again, stays

    def _explained(self, error: BaseException, job: BodyJob) -> BaseException:
        """Return the error that the sender receives."""
        if isinstance(error, WorkerDiedError) and error.cpu:
            return cpu_exceeded(job)
        if isinstance(error, MemoryExceededError):
            most = self._pool.memory_bytes or 0
            return BodyLimitError(Fault.MEMORY_LIMIT, most, most, MEMORY_SETTING)
        if not isinstance(error, WorkerDiedError):
            return error
        if self._ended:
            return _stop_workers()
        return BusyError("uploads.worker_died", retry_after_s=60)


def cpu_exceeded(job: BodyJob) -> BodyLimitError:
    """Return the refusal of a job that took more of a processor than it may."""
    return BodyLimitError(Fault.CPU_LIMIT, job.cpu_s, job.cpu_s, job.cpu_setting)


def _fail(task: _Task, error: BaseException) -> None:
    with contextlib.suppress(Exception):  # who asked may be gone
        if task.future.set_running_or_notify_cancel():
            task.future.set_exception(error)


def _stop_workers() -> BusyError:
    return BusyError("uploads.manager_stops")
