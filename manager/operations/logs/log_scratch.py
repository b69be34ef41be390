"""A turn for tasks that read many logs: one at a time, in a separate folder in the spool."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from manager.errors import BusyError
from manager.operations.logs.source_files import Place
from manager.store import Layout, Spool

__all__ = ["Scratch"]


class Scratch:
    """Gives turns. There is one of it for console and API together."""

    def __init__(self, layout: Layout, spool: Spool, memory_bytes: int) -> None:
        """memory_bytes: that one of them may take."""
        self._layout = layout
        self._spool = spool
        self._memory_bytes = memory_bytes
        self._turn = threading.Lock()

    @contextmanager
    def turn(self) -> Iterator[Place]:
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
            yield Place(self._layout.kept, folder, self._memory_bytes)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            self._turn.release()
