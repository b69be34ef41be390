"""Transfer of jobs and results to child processes, in anonymous files.

A pool's queues are pipes of 64 KiB, which the parent holds at both ends. Where a child dies before
it has read all of a large job, the thread that feeds the pipe waits for ever, and the program with
it when it ends (CPython issue 94777, in Debian's Python 3.11); where it dies before it has written
all of a large result, the thread that reads waits for ever, and who asked with it. Invariant: what
goes through the queues is small enough that all that may wait fits into the pipes.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from shared.frozen import frozen

__all__ = ["carried"]

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

PROTOCOL: Final = pickle.HIGHEST_PROTOCOL


@frozen
class _Carried:
    """A function whose job lies in a file, where it leaves its result.

    path: as long as the parent keeps it open.
    """

    function: Callable[[Any], object]
    path: str

    def __call__(self) -> None:
        with open(self.path, "rb") as file:  # noqa: PTH123  # of a descriptor, not of a place
            job = pickle.load(file)  # noqa: S301  # our parent wrote it
        result = self.function(job)
        with open(self.path, "wb") as file:  # noqa: PTH123
            pickle.dump(result, file, PROTOCOL)


def carried(
    function: Callable[[_Job], _Result],
    job: _Job,
    submit: Callable[[Callable[[], None]], Future[None]],
) -> Future[_Result]:
    """Submit function(job) to a pool of children on this machine; return what it will return."""
    held = os.fdopen(os.memfd_create("job"), "w+b")
    try:
        pickle.dump(job, held, PROTOCOL)
        held.flush()
        done = submit(_Carried(function, f"/proc/{os.getpid()}/fd/{held.fileno()}"))
    except BaseException:
        held.close()
        raise
    asked: Future[_Result] = Future()

    def answer(done: Future[None]) -> None:
        with held:
            if not asked.set_running_or_notify_cancel():
                return  # who asked is gone
            try:
                done.result()
                held.seek(0)
                asked.set_result(pickle.load(held))  # noqa: S301  # our child wrote it
            except BaseException as error:  # noqa: BLE001  # or who asked would wait for ever
                asked.set_exception(error)

    asked.add_done_callback(lambda asked: asked.cancelled() and done.cancel())
    done.add_done_callback(answer)
    return asked
