"""A file that is being downloaded. Its name is the SHA-256 of the whole file, so after a kill it
needs no other note: its bytes are the first ones of the file with that digest.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final, Self

from client.errors import DamagedError
from client.folder import disk_said

__all__ = ["PartialFile"]

READ_BYTES: Final = 1024**2


class PartialFile:
    """The first bytes of a file, open for more. Use it in a `with`, one for a SHA-256."""

    def __init__(self, parts: Path, sha256: str, size_bytes: int) -> None:
        """Open it, and read what is there; raises DiskError."""
        self.path = parts / sha256
        self._etag = parts / f"{sha256}.etag"
        self._sha256 = sha256
        self._whole_bytes = size_bytes
        self._digest = hashlib.sha256()
        self.size = 0
        with disk_said(self.path):
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._handle = os.open(self.path, flags, 0o666)
            while piece := os.pread(self._handle, READ_BYTES, self.size):
                self._digest.update(piece)
                self.size += len(piece)
        if self.size > size_bytes:
            self.restart()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    @property
    def missing(self) -> int:
        """Return how many bytes are still to come."""
        return self._whole_bytes - self.size

    @property
    def etag(self) -> str:
        """Return what the server called this file when its first bytes came; empty: not known."""
        try:
            return self._etag.read_text("ascii")
        except (OSError, ValueError):
            return ""

    def begin(self, etag: str) -> None:
        """Keep what the server calls the file whose first bytes come now."""
        with disk_said(self.path):
            if etag.isascii() and etag.isprintable():
                self._etag.write_text(etag[:500], "ascii")

    def write(self, data: bytes) -> None:
        """Add bytes; raises DiskError, and DamagedError where they are too many."""
        if len(data) > self.missing:
            raise DamagedError(f"more than the {self._whole_bytes} bytes came that the file has")
        with disk_said(self.path):
            done = 0
            while done < len(data):
                done += os.pwrite(self._handle, data[done:], self.size + done)
        self._digest.update(data)
        self.size += len(data)

    def restart(self) -> None:
        """Throw away the received bytes."""
        with disk_said(self.path):
            os.ftruncate(self._handle, 0)
            self._etag.unlink(missing_ok=True)
        self._digest = hashlib.sha256()
        self.size = 0

    def check(self) -> None:
        """Sync what is whole; raises DamagedError where its SHA-256 is another, DiskError."""
        found = self._digest.hexdigest()
        if found != self._sha256:
            raise DamagedError(
                f"{self.size} bytes came with the SHA-256 {found[:16]}..., and it should be "
                f"{self._sha256[:16]}...: something between changed them"
            )
        with disk_said(self.path):
            os.fsync(self._handle)

    def forget(self) -> None:
        """Remove all notes of it; the part itself already has its name, or is to go too."""
        with disk_said(self.path):
            self._etag.unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)
