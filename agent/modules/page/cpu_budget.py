"""Bounds the processor time of a reader that has no bounds of its own.

The limits of a worker end it, and the page with it; a document that only takes long should cost
its links alone. So the time runs out earlier here, and raises.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

__all__ = ["OverBudgetError", "cpu_budget"]

_AGAIN_S: Final = 0.1  # after which it is raised again, where somebody caught it


class OverBudgetError(BaseException):
    """The time is over. No `Exception`: readers catch those and go on."""


@contextmanager
def cpu_budget(seconds: float) -> Iterator[None]:
    """Raise OverBudgetError in the body after so many seconds of processor time.

    Elsewhere than in the main thread there is no limit but those of the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _over(*_: object) -> NoReturn:
    raise OverBudgetError
