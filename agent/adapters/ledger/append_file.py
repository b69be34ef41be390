"""A file that only grows, and is cut back to its committed bytes.

Invariant: on the disk it always begins with its committed bytes; `size_bytes` is where the next
ones go, and a write that finds no room leaves nothing behind.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

from agent.adapters.ledger.trash import Trash
from agent.errors import HomeError
from shared.archive.errors import DiskFullError
from shared.archive.segment import OpenFile, sync_directory
from shared.full_disk import NO_ROOM

__all__ = ["AppendedFile"]


class AppendedFile:
    """An append-only file of which only a committed length counts."""

    def __init__(
        self,
        path: Path,
        committed_bytes: int,
        open_file: OpenFile = io.FileIO,
        trash: Trash | None = None,
    ) -> None:
        """Open it and cut off uncommitted bytes; create it where nothing is committed.

        trash: takes what is cut off. Raises HomeError where committed bytes are missing,
        DiskFullError where none can be added.
        """
        self.path = path
        self.size_bytes = committed_bytes
        self._synced_bytes = committed_bytes
        is_new = not path.exists()
        if trash is not None and not is_new:
            trash.take_tail(path, committed_bytes)
        if is_new and committed_bytes:
            raise HomeError(
                "agent_errors.file_missing", path=str(path), committed_bytes=committed_bytes
            )
        try:
            self._file = open_file(path, "xb" if is_new else "r+b")
        except OSError as error:
            if error.errno in NO_ROOM:
                raise _full(path, 0, error) from error
            raise
        try:
            self._cut_to(committed_bytes, is_new=is_new)
        except BaseException:
            self._file.close()
            raise

    def append(self, data: bytes) -> None:
        """Write bytes at the end; raises DiskFullError, and then none of them is there."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            self._file.truncate(self.size_bytes)
            self._file.seek(self.size_bytes)
            if error.errno in NO_ROOM:
                raise _full(self.path, len(data), error) from error
            raise
        self.size_bytes += len(data)

    def sync(self) -> None:
        """Make the bytes survive a loss of power.

        Raises HomeError where the system cannot: what is on the disk is then unknown, and only a
        new start finds out.
        """
        if self._synced_bytes == self.size_bytes:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise HomeError(
                "agent_errors.sync_failed", path=str(self.path), why=str(error)
            ) from error
        self._synced_bytes = self.size_bytes

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _cut_to(self, committed_bytes: int, *, is_new: bool) -> None:
        if is_new:
            sync_directory(self.path.parent)
            return
        present_bytes = self._file.seek(0, io.SEEK_END)
        if present_bytes < committed_bytes:
            raise HomeError(
                "agent_errors.file_shorter",
                path=str(self.path),
                size_bytes=present_bytes,
                committed_bytes=committed_bytes,
            )
        if present_bytes > committed_bytes:
            self._file.truncate(committed_bytes)
            os.fsync(self._file.fileno())
        self._file.seek(committed_bytes)


def _full(path: Path, size_bytes: int, error: OSError) -> DiskFullError:
    return DiskFullError(
        "archive_files.no_room_to_append",
        path=str(path),
        size_bytes=size_bytes,
        why=error.strerror,
    )
