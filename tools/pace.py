"""Deadlines in seconds of a quiet machine: they grow while the machine is slow or busy.

Shared by `tools`, `tests` and `benchmarks`. A deadline catches what hangs; it must not catch what
merely shares its processors with others.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

__all__ = ["polls", "slowness"]

REFERENCE_S: Final = 0.012
"""Processor seconds of `_work` on the machine for which the deadlines of tests were chosen."""


def slowness() -> float:
    """Return how many times longer work takes now than on a quiet reference machine, at least 1.

    The product of the processor's speed, measured once, and the runnable processes per core.
    """
    return _processor() * max(1.0, _runnable() / (os.cpu_count() or 1))


def polls(
    seconds: float,
    every_s: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    slowness: Callable[[], float] = slowness,
) -> Iterator[None]:
    """Yield once per look, every_s apart, until `seconds` of a quiet machine have passed.

    There are at least two looks, the last one after the end of the time.
    """
    left = seconds
    before = clock()
    while True:
        yield
        if left <= 0:
            return
        sleep(every_s)
        now = clock()
        left -= (now - before) / slowness()
        before = now


@cache
def _processor() -> float:
    return max(1.0, min(_work() for _ in range(3)) / REFERENCE_S)


def _work() -> float:
    begun = time.process_time()
    value = b""
    for number in range(30_000):
        value = hashlib.sha256(value + b"%d" % number).digest()
    return time.process_time() - begun


def _runnable() -> float:
    """Return the greater of the runnable processes now and their mean of the last minute."""
    try:
        with open("/proc/loadavg", encoding="ascii") as file:  # noqa: PTH123  called in a loop
            mean, _, _, counts, _ = file.read().split()
    except OSError:
        return 0.0
    return max(float(mean), float(counts.partition("/")[0]))
