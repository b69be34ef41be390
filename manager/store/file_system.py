"""The state of a file system: whether files can be made in a folder, and if not, why.

A file is made, written, synced and removed, for nothing else tells for certain; `statvfs` says what
the error does not: that bytes are left and inodes are not, or that the system was turned read-only.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from shared.frozen import frozen

__all__ = ["FileSystem", "FileSystemProblem", "FileSystemState", "free_inodes", "problem_of"]

PROBE: Final = ".prsm-write-probe"
FEW_INODES: Final = 64
"""Beside a failure: so few that other processes may have used them up a moment ago."""


class FileSystemState(StrEnum):
    """A state in which no file can be made."""

    NO_INODES = "no_inodes"
    FULL = "disk_full"
    QUOTA = "disk_quota"
    READ_ONLY = "read_only"
    NOT_PERMITTED = "not_permitted"
    UNREACHABLE = "unreachable"


@frozen
class FileSystemProblem:
    """A folder in which no file can be made. detail: the system's words."""

    state: FileSystemState
    folder: Path
    detail: str


class Figures(Protocol):
    """Fields of `os.statvfs`. f_files: 0: the file system has no limit of inodes."""

    @property
    def f_files(self) -> int: ...
    @property
    def f_favail(self) -> int: ...
    @property
    def f_bavail(self) -> int: ...
    @property
    def f_flag(self) -> int: ...


def _write_probe(folder: Path) -> None:
    """Make, sync and remove a small file. Raises OSError."""
    path = folder / f"{PROBE}.{os.getpid()}"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(handle, b"x")
        os.fsync(handle)
    finally:
        os.close(handle)
        with contextlib.suppress(OSError):
            path.unlink()


@frozen
class FileSystem:
    """The system calls that are used; tests give others."""

    figures: Callable[[Path], Figures] = os.statvfs
    write_probe: Callable[[Path], None] = _write_probe


_REAL: Final = FileSystem()


def problem_of(folder: Path, system: FileSystem = _REAL) -> FileSystemProblem | None:
    """Return why no file can be made in a folder; None: one can."""
    try:
        system.write_probe(folder)
    except OSError as error:
        return FileSystemProblem(
            _state(folder, error, system), folder, error.strerror or str(error)
        )
    return None


def free_inodes(folder: Path, system: FileSystem = _REAL) -> int | None:
    """Return how many files can still be made; None: no limit, or unknown."""
    try:
        figures = system.figures(folder)
    except OSError:
        return None
    return figures.f_favail if figures.f_files else None


def _state(folder: Path, error: OSError, system: FileSystem) -> FileSystemState:
    if error.errno == errno.EROFS:
        return FileSystemState.READ_ONLY
    try:
        figures = system.figures(folder)
    except OSError:
        return FileSystemState.UNREACHABLE
    if figures.f_flag & os.ST_RDONLY:
        return FileSystemState.READ_ONLY
    if error.errno == errno.EDQUOT:
        return FileSystemState.QUOTA
    if error.errno == errno.ENOSPC:
        no_inodes = bool(figures.f_files) and figures.f_favail < FEW_INODES
        return FileSystemState.NO_INODES if no_inodes else FileSystemState.FULL
    if error.errno in (errno.EACCES, errno.EPERM):
        return FileSystemState.NOT_PERMITTED
    return FileSystemState.UNREACHABLE
