"""A child process that runs one job at a time, within limits of processor time and memory.

Invariants: a child has no database handle, ignores the signals that stop the server, and ends when
its parent ends. `kill` ends it in the middle of its work, and the thread that waits for its result
is notified at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import math
import multiprocessing
import os
import pickle
import resource
import signal
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from shared.frozen import frozen

__all__ = ["Limits", "MemoryExceededError", "WorkerDiedError", "WorkerProcess"]

KEPT_BYTES: Final = 256 * 1024**2
"""Freed memory that a child with `keep_memory` keeps for its next need."""

LOW_PRIORITY: Final = 15

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_LARGEST_OF_THE_HEAP: Final = 32 * 1024**2  # the most that mallopt takes
_starting: Final = threading.Lock()  # multiprocessing's list of children is not made for threads


class WorkerDiedError(Exception):
    """The child ended before its result came. cpu: the kernel ended it for its processor time."""

    def __init__(self, *, cpu: bool = False) -> None:
        super().__init__("the processor time is over" if cpu else "the worker process died")
        self.cpu = cpu


class MemoryExceededError(Exception):
    """The job needed more memory than its process may have."""


@frozen
class Limits:
    """Resource limits of a child. memory_bytes: address space beyond that at its start, which is
    mostly stacks of threads: their number grows with the processors. cpu_s: processor time of one
    job.
    """

    memory_bytes: int
    cpu_s: float


class WorkerProcess:
    """One child; one thread at a time gives it jobs, any thread may kill it."""

    def __init__(
        self, memory_bytes: int | None, *, keep_memory: bool, modules: Sequence[str] = ()
    ) -> None:
        """memory_bytes: see `Limits`; None: unlimited. modules: imported before the first job."""
        spawn = multiprocessing.get_context("spawn")
        self._ours, theirs = spawn.Pipe()
        self._process = spawn.Process(
            target=_run_jobs,
            args=(theirs, memory_bytes, keep_memory, tuple(modules)),
            name="worker",
        )
        with _starting:
            self._process.start()
        theirs.close()
        self.jobs = 0
        self.is_slow = False

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self._process.pid or 0

    @property
    def is_alive(self) -> bool:
        """Return whether it can take a job."""
        return self._process.is_alive()

    def send(self, function: Callable[[Any], object], job: object, cpu_s: float | None) -> None:
        """Give it a job when it is ready. cpu_s: the kernel ends the child beyond; None: never."""
        self.jobs += 1
        with contextlib.suppress(OSError, EOFError):  # `result` raises for its caller
            if self.jobs == 1:
                self._ours.recv_bytes()
            self._ours.send_bytes(pickle.dumps((function, job, cpu_s), pickle.HIGHEST_PROTOCOL))

    def wait(self, seconds: float | None) -> bool:
        """Return whether the result, or the end of the child, came in time. None: no limit."""
        try:
            return self._ours.poll(seconds)
        except OSError:
            return True

    def result(self) -> object:
        """Return what the job returned; raises what it raised, or WorkerDiedError."""
        try:
            good, value = pickle.loads(self._ours.recv_bytes())  # noqa: S301  # our child wrote it
        except (EOFError, OSError) as error:
            self._process.join()
            raise WorkerDiedError(cpu=self._process.exitcode == -signal.SIGXCPU) from error
        if not good:
            assert isinstance(value, BaseException)
            raise value
        return value

    def lower_priority(self) -> None:
        """Lower the priority of this process below all others."""
        self.is_slow = True
        with contextlib.suppress(OSError):  # it may have ended
            for thread in Path(f"/proc/{self.pid}/task").iterdir():
                os.setpriority(os.PRIO_PROCESS, int(thread.name), LOW_PRIORITY)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def close(self) -> None:
        """End it and give back what it holds."""
        self._process.kill()
        with _starting:
            self._process.join()
        self._ours.close()


def _limit_memory(memory_bytes: int) -> None:
    """Bound the addresses of this process, besides those that it has."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most_bytes = _addresses_bytes() + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))


def _limit_cpu(cpu_s: float) -> None:
    """Limit the processor time of this process from now on; the kernel enforces it."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + cpu_s), hard))


def _run_jobs(
    line: Connection, memory_bytes: int | None, keep_memory: bool, modules: Sequence[str]
) -> None:
    if keep_memory:
        _keep_memory()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # its parent ends it
    threading.Thread(target=_end_with_parent, name="end-with-parent", daemon=True).start()
    for module in modules:
        importlib.import_module(module)
    if memory_bytes is not None:
        _limit_memory(memory_bytes)
    line.send_bytes(b"ready")
    while True:
        try:
            function, job, cpu_s = pickle.loads(line.recv_bytes())  # noqa: S301  # our parent's
        except EOFError:
            return
        if cpu_s is not None:
            _limit_cpu(cpu_s)
        line.send_bytes(_outcome(function, job))


def _outcome(function: Callable[[Any], object], job: object) -> bytes:
    try:
        return pickle.dumps((True, function(job)), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return pickle.dumps((False, MemoryExceededError()), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:  # noqa: BLE001  # told to who asked
        return pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)


def _keep_memory() -> None:
    """Make malloc return less memory to the kernel, and Arrow allocate from malloc.

    Else the kernel clears the same megabytes each time that they are allocated again.
    Source: mallopt(3), of the GNU C library; others have no such function, and no such thrift.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # read when Arrow is imported
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGEST_OF_THE_HEAP)
        mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _addresses_bytes() -> int:
    """Return how many addresses this process has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
