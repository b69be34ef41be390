"""Shutdown of a manager within `server.stop_s` and a few seconds, whatever still runs.

After the signal the manager accepts no connection, and running requests may finish. When
`server.stop_s` is over, requests are cancelled and child processes are killed. Work that still runs
`GRACE_S` later cannot be cancelled (a query, a digest, a compression in a thread), and ends with
the process; the kernel ends it where Python cannot. Invariant: nothing depends on an orderly end:
the next start needs no help after a kill (`manager.app.manager_run`).
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Final

__all__ = ["Shutdown"]

GRACE_S: Final = 2.5
"""Seconds from the end of `server.stop_s` to the end of work that cannot be cancelled."""

KERNEL_S: Final = 1.5
"""Later than that the kernel ends the process."""

_log: Final = logging.getLogger(__name__)


class Shutdown:
    """The end of one process; `begin` may be called from a signal handler."""

    def __init__(self, stop_s: float, end_children: Sequence[Callable[[], object]]) -> None:
        """end_children: called at the end of stop_s; each kills children in their work."""
        self._stop_s = stop_s
        self._end_children = end_children
        self._has_begun = False
        self._hurry = threading.Event()
        self._done = threading.Event()

    def begin(self) -> None:
        """Begin to count; called again, do not wait for `server.stop_s`."""
        if self._has_begun:
            self._hurry.set()
            return
        self._has_begun = True
        atexit.register(self._done.set)  # by then all threads have been waited for
        with contextlib.suppress(OSError):
            signal.setitimer(signal.ITIMER_REAL, self._stop_s + GRACE_S + KERNEL_S)
        threading.Thread(target=self._watch, name="shutdown", daemon=True).start()

    @contextlib.contextmanager
    def on_signals(self, stop: Callable[[], None]) -> Iterator[None]:
        """Begin at SIGTERM or SIGINT while the block runs. stop: called each time, too.

        Only for the main thread. These handlers run where the event loop is held up as well.
        """

        def handle(_number: int, _frame: object) -> None:
            self.begin()
            stop()

        before = {number: signal.signal(number, handle) for number in _SIGNALS}
        try:
            yield
        finally:
            # From here on a second signal ends the process by itself.
            for number, handler in before.items():
                signal.signal(number, handler)

    def _watch(self) -> None:
        self._hurry.wait(self._stop_s)
        if self._done.is_set():
            return
        for end in self._end_children:
            end()
        if self._done.wait(GRACE_S):
            return
        _log.warning(
            "stopping: %g s are over (server.stop_s), and these threads cannot be cancelled; they "
            "end with this process, and what they did is done again: %s",
            self._stop_s,
            ", ".join(_busy_threads()) or "none but the main thread",
        )
        for child in multiprocessing.active_children():
            child.kill()
        logging.shutdown()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(0)


_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def _busy_threads() -> list[str]:
    """Return the threads that do something, each with the function that it is in."""
    busy = []
    for thread in threading.enumerate():
        frame = sys._current_frames().get(thread.ident or 0)  # there is no other
        if frame is None or thread is threading.current_thread():
            continue
        code = frame.f_code
        if code.co_filename.endswith(("threading.py", "thread.py", "queue.py", "selectors.py")):
            continue  # it waits
        busy.append(f"{thread.name} in {code.co_qualname}")
    return busy
