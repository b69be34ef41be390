"""A disk that is full after so many bytes, for tests: the file really refuses them."""

from __future__ import annotations

import errno
import io
from pathlib import Path

from manager.store.durable_files import OpenFile


class _FullAfter(io.FileIO):
    def __init__(self, path: Path, room_bytes: int) -> None:
        super().__init__(path, "xb")
        self._room_bytes = room_bytes

    def write(self, data: object, /) -> int:
        view = memoryview(data)  # type: ignore[arg-type]  # typeshed's buffer type is private
        if view.nbytes > self._room_bytes:
            raise OSError(errno.ENOSPC, "No space left on device")
        self._room_bytes -= view.nbytes
        return super().write(view)


def full_after(room_bytes: int) -> OpenFile:
    """Return an opener whose files take so many bytes and then fail as a full disk does."""
    return lambda path: io.BufferedWriter(_FullAfter(path, room_bytes), 1024)
