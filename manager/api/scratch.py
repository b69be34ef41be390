"""A turn for what reads many logs: one at a time, in a folder of its own in the spool."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from manager.api.door import AdminDoor
from manager.errors import BusyError
from manager.operations.exporting import Place

__all__ = ["scratch"]


@contextmanager
def scratch(door: AdminDoor) -> Iterator[Place]:
    """Give an empty folder, and where the logs lie; nobody else has a turn in the meantime.

    Where the block fails the folder is removed, else it is the caller's. Raises BusyError,
    StoreFullError.
    """
    if not door.reading.acquire(blocking=False):
        raise BusyError("another export or comparison goes on: try again when it is done")
    folder = door.spool.temporary(".scratch")
    try:
        door.spool.check_room(0)
        folder.mkdir(mode=0o700)
        yield Place(door.layout.kept, folder, door.settings.intake.memory_bytes)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        door.reading.release()
