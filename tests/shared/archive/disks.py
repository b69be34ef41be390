"""Disks that are small, for tests of what happens when they are full."""

from __future__ import annotations

import errno
import io
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.mounts import small_file_system


class SmallDisk:
    """Opens files that share a number of free bytes; a write takes what fits, as a kernel does."""

    def __init__(self, free_bytes: int) -> None:
        self.free_bytes = free_bytes
        self.broken = False

    def open(self, path: Path, mode: str) -> io.FileIO:
        return _SmallFile(self, path, mode)


class _SmallFile(io.FileIO):
    def __init__(self, disk: SmallDisk, path: Path, mode: str) -> None:
        super().__init__(path, mode)
        self._disk = disk

    def write(self, data: Any) -> int:  # FileIO takes any buffer
        taken = min(len(data), self._disk.free_bytes)
        if taken == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._disk.free_bytes -= taken
        return super().write(data[:taken])

    def truncate(self, size: int | None = None) -> int:
        if self._disk.broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        before = os.fstat(self.fileno()).st_size
        after = super().truncate(size)
        self._disk.free_bytes += before - after
        return after


@contextmanager
def file_limit(size_bytes: int) -> Iterator[None]:
    """Let no file of this process grow above a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def mounted(folder: Path, size_bytes: int) -> Iterator[Path]:
    """Mount a small file system in memory; skip the calling test where this is not allowed."""
    with small_file_system(folder, f"size={size_bytes}"):
        yield folder
