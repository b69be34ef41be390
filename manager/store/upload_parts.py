"""Files received in pieces, over hours and many connections: `uploads/KEY.part`, then `incoming/`.

Invariant: only one request at a time writes a part, in whatever process (flock); bytes are on the
disk before they are reported; a name in `incoming` is a whole file whose SHA-256 was right. Which
bytes of a part count is not known here: the table of transfers has it.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from manager.errors import ConflictError
from manager.store.durable_files import PART, free_bytes, full_disk_said, move, sync_folder
from manager.store.errors import StoreFullError
from shared.wire.uploads import FileDigests, digest_file

__all__ = ["PartBusyError", "UploadPart", "UploadParts"]

_KEY: Final = re.compile(r"[0-9a-f]{32}")
ARRIVED: Final = ".warc.gz"


class PartBusyError(ConflictError):
    """Another request writes this part now."""


class UploadPart:
    """A part that this process alone has open."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle = handle

    def write(self, at: int, data: bytes) -> None:
        """Write bytes at an offset; raises StoreFullError, and the old bytes stay."""
        view = memoryview(data)
        with full_disk_said(self._path.parent):
            while view:
                written = os.pwrite(self._handle, view, at)
                view, at = view[written:], at + written

    def sync(self) -> None:
        """Sync the written bytes to the disk."""
        with full_disk_said(self._path.parent):
            os.fdatasync(self._handle)

    def digests(self, size_bytes: int) -> FileDigests:
        """Read the whole part. Raises FormatError where it is shorter."""
        with os.fdopen(os.dup(self._handle), "rb") as file:
            return digest_file(file, size_bytes)

    def close(self) -> None:
        """Release it for others."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class UploadParts:
    """The folders of partial uploads and of complete files."""

    def __init__(
        self,
        uploads: Path,
        incoming: Path,
        *,
        reserve_bytes: int,
        free_bytes: Callable[[Path], int] = free_bytes,
    ) -> None:
        """reserve_bytes: what uploads must leave free."""
        self._uploads = uploads
        self._incoming = incoming
        self._reserve_bytes = reserve_bytes
        self._free_bytes = free_bytes

    def check_room(self, needed_bytes: int) -> None:
        """Raise StoreFullError unless the disk keeps its reserve after so many bytes."""
        free_bytes = self._free_bytes(self._uploads)
        if free_bytes - needed_bytes < self._reserve_bytes:
            raise StoreFullError(
                "store.no_room_for_segments",
                free_bytes=free_bytes,
                needed_bytes=needed_bytes,
                reserve_bytes=self._reserve_bytes,
            )

    def begin(self, key: str) -> None:
        """Make an empty part; its name is on the disk when this returns."""
        with full_disk_said(self._uploads):
            os.close(os.open(self._part(key), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            sync_folder(self._uploads)

    def open(self, key: str) -> UploadPart:
        """Open a part to write. Raises PartBusyError, FileNotFoundError."""
        path = self._part(key)
        handle = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(handle)
            raise PartBusyError("uploads.part_busy") from error
        return UploadPart(path, handle)

    def finish(self, key: str) -> Path:
        """Move a whole, synced part to `incoming`; return where it lies. A repeat is harmless."""
        arrived = self.arrived(key)
        if not arrived.exists():
            move(self._part(key), arrived)
        return arrived

    def arrived(self, key: str) -> Path:
        """Return where a whole file lies until it is accepted."""
        return self._incoming / f"{_checked(key)}{ARRIVED}"

    def remove(self, key: str) -> None:
        """Throw away what there is of an upload."""
        self._part(key).unlink(missing_ok=True)
        self.arrived(key).unlink(missing_ok=True)

    def _part(self, key: str) -> Path:
        return self._uploads / f"{_checked(key)}{PART}"


def _checked(key: str) -> str:
    assert _KEY.fullmatch(key), "a key that we made"
    return key
