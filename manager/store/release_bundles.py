"""The files of releases, each named by the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import BinaryIO, Final

from manager.store.durable_files import move, sync_file

__all__ = ["Bundles"]

CHUNK_BYTES: Final = 1024**2
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Bundles:
    """A folder of files that were signed, or wait for the targets that name them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, path: Path) -> str:
        """Keep a whole file, and return its SHA-256. The same file again changes nothing."""
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        sync_file(path)
        move(path, self._folder / sha256)
        return sha256

    def has(self, sha256: str, size_bytes: int) -> bool:
        """Return whether a file of this digest and size is here."""
        path = self._path(sha256)
        return path.is_file() and path.stat().st_size == size_bytes

    def open(self, sha256: str) -> BinaryIO:
        """Open a file to send it. Raises FileNotFoundError."""
        return self._path(sha256).open("rb")

    def listed(self) -> list[str]:
        """Return the digests of the files that are here."""
        names = (path.name for path in self._folder.iterdir())
        return [name for name in names if _DIGEST.fullmatch(name)]

    def remove(self, sha256: str) -> None:
        """Remove a file that no release needs; a missing file is no error."""
        self._path(sha256).unlink(missing_ok=True)

    def _path(self, sha256: str) -> Path:
        assert _DIGEST.fullmatch(sha256), "a digest that was checked"
        return self._folder / sha256
