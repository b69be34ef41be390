"""How a large job gets to a child: in a file without a name, of which the queue has the address.

A pool's queue is a pipe of 64 KiB, which the parent holds at both ends: where a child dies before
it has read all of a large job, the thread that feeds the pipe waits for ever, and the program with
it when it ends (CPython issue 94777, in Debian's Python 3.11). Invariant: what goes through
the queue is small enough that all that may wait fits into the pipe.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final, TypeVar

__all__ = ["carried"]

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

SMALL_BYTES: Final = 8192


@dataclass(frozen=True, slots=True)
class _Carried:
    """A function of a job that lies in a file. path: as long as the parent keeps it open."""

    function: Callable[..., object]
    path: str

    def __call__(self, _: None) -> object:
        with open(self.path, "rb") as file:  # noqa: PTH123  # of a descriptor, not of a place
            job = pickle.load(file)  # noqa: S301  # our parent wrote it
        return self.function(job)


def carried(
    function: Callable[[_Job], _Result],
    job: _Job,
    submit: Callable[[Callable[..., _Result], object], Future[_Result]],
) -> Future[_Result]:
    """Submit function(job) to a pool of children on this machine; return what it will return."""
    pickled = pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL)
    if len(pickled) <= SMALL_BYTES:
        return submit(function, job)
    file = os.memfd_create("job")
    try:
        left = memoryview(pickled)
        while left:
            left = left[os.write(file, left) :]
        future = submit(_Carried(function, f"/proc/{os.getpid()}/fd/{file}"), None)  # type: ignore[arg-type]  # it returns what `function` does
    except BaseException:
        os.close(file)
        raise
    future.add_done_callback(lambda _: os.close(file))
    return future
