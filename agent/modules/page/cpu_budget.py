"""Bounds the processor time of a reader that lacks its own bounds.

The limits of a worker end it, and the page with it; a document that only takes long should cost
its links alone. So the time runs out earlier here: `Budget.is_over` tells a reader that asks, and
one that does not ask within half as long again is stopped by an exception.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Budget", "OverBudgetError", "cpu_budget"]


class OverBudgetError(BaseException):
    """The time is over. No `Exception`: readers catch those and continue."""


@dataclass(slots=True)
class Budget:
    """The state of a budget: whether its time is over."""

    is_over: bool = False


@contextmanager
def cpu_budget(seconds: float) -> Iterator[Budget]:
    """Give the body so many seconds of processor time; raise OverBudgetError beyond half more.

    Elsewhere than in the main thread there is no limit but those of the process.
    """
    budget = Budget()

    def over(*_: object) -> None:
        if budget.is_over:
            raise OverBudgetError
        budget.is_over = True

    if threading.current_thread() is not threading.main_thread():
        yield budget
        return
    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds / 2)
    try:
        yield budget
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
