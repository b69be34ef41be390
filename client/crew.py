"""Several downloads at a time: threads that take tasks until none is left or one must stop all.

What concerns one file (refused, damaged, withdrawn) is its task's to note; what concerns all
(token, disk, network, a quota, a signal) ends the run, and the others stop at their next piece.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final

from client.errors import StoppedError
from client.retry import Patience

__all__ = ["work_off"]

LOOK_S: Final = 0.2
STOP_S: Final = 5.0
"""Parts may be left at any moment, so a thread that hangs in a read is not waited for."""


def work_off(
    tasks: Iterable[Callable[[], None]], at_once: int, patience: Patience, look: Callable[[], None]
) -> None:
    """Do all tasks; raises the first error that a task lets out. look: called meanwhile."""
    waiting = iter(list(tasks))
    taking = threading.Lock()
    failures: list[BaseException] = []

    def worker() -> None:
        while not patience.stopping.is_set():
            with taking:
                task = next(waiting, None)
            if task is None:
                return
            try:
                task()
            except BaseException as error:  # noqa: BLE001 - it is raised where all are waited for
                failures.append(error)
                patience.stopping.set()
                return

    threads = [threading.Thread(target=worker, daemon=True) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive() and not patience.stopping.is_set():
            thread.join(LOOK_S)
            look()
    for thread in threads:
        thread.join(STOP_S)
    causes = [each for each in failures if not isinstance(each, StoppedError)]
    for failure in causes or failures:
        raise failure
    patience.check()
