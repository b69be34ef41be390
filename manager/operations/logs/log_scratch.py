"""A turn for tasks that read many logs: one at a time, in a separate folder in the spool."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manager.errors import BusyError
from manager.store import Layout, Spool
from shared.frozen import frozen

__all__ = ["LogWorkspace", "Scratch"]


@frozen
class LogWorkspace:
    """The folder of kept files, and an empty folder for a task on logs.

    memory_bytes: the most memory that the task may take.
    """

    kept: Path
    folder: Path
    memory_bytes: int


class Scratch:
    """Gives turns. There is one of it for console and API together."""

    def __init__(self, layout: Layout, spool: Spool, memory_bytes: int) -> None:
        """memory_bytes: that one of them may take."""
        self._layout = layout
        self._spool = spool
        self._memory_bytes = memory_bytes
        self._turn = threading.Lock()

    @contextmanager
    def turn(self) -> Iterator[LogWorkspace]:
        """Give an empty folder, and where the logs lie; no other caller has a turn meanwhile.

        Where the block fails the folder is removed, else it is the caller's. Raises BusyError,
        StoreFullError.
        """
        if not self._turn.acquire(blocking=False):
            raise BusyError("logs.other_export")
        folder = self._spool.temporary(".scratch")
        try:
            self._spool.check_room(0)
            folder.mkdir(mode=0o700)
            yield LogWorkspace(self._layout.kept, folder, self._memory_bytes)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            self._turn.release()
