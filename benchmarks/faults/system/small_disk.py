"""A small disk in memory (tmpfs), so that a full one is only ours. Needs root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["fill", "is_small_disk", "small_disk"]

PIECE = 1 << 20


@contextmanager
def small_disk(folder: Path, mebibytes: int, user: str | None = None) -> Iterator[None]:
    """Make a folder, on a separate disk where that is allowed. user: to whom it belongs."""
    folder.mkdir(parents=True)
    mounted = os.geteuid() == 0 and not _run("mount", "-t", "tmpfs", "-o", f"size={mebibytes}m",
                                             "prsm-faults", str(folder))  # fmt: skip
    if user is not None:
        shutil.chown(folder, user)
        folder.chmod(0o700)
    try:
        yield
    finally:
        if mounted:
            _run("umount", "--lazy", str(folder))


def is_small_disk(folder: Path) -> bool:
    """Return whether a folder is a separate disk."""
    return folder.is_mount()


def fill(folder: Path) -> Path:
    """Write until nothing more can be written; return the file to remove."""
    path = folder / "filled-up"
    with path.open("wb", buffering=0) as file:
        size = PIECE
        while size:
            try:
                file.write(b"x" * size)
            except OSError:
                size //= 2
    return path


def _run(*words: str) -> int:
    return subprocess.run(words, capture_output=True, check=False).returncode
