"""Verification of one file: is it there, of its size, readable, with its digest."""

from __future__ import annotations

import gzip
import hashlib
import stat
import zlib
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Final

import pyarrow.parquet as pq
from pyarrow import ArrowException

from shared.frozen import frozen
from shared.messages import Message

__all__ = [
    "FileProblem",
    "Verdict",
    "verified",
    "verified_file",
    "verified_gzip",
    "verified_lines",
    "verified_parquet",
    "verified_size",
]

READ_BYTES: Final = 1024**2
DETAIL: Final = 200

Throttle = Callable[[int], None]
"""Called with the bytes that were read; it waits, or raises to end the reading."""


class FileProblem(StrEnum):
    """A way in which a kept file is not as it must be."""

    MISSING = "missing"
    WRONG_SIZE = "wrong_size"
    WRONG_DIGEST = "wrong_digest"
    UNREADABLE = "unreadable"
    NO_ROW = "no_row"


@frozen
class Verdict:
    """The result of a verification. problem: None: the file is sound. sha256: of the read bytes."""

    problem: FileProblem | None
    detail: Message | None = None
    sha256: str = ""
    size_bytes: int = 0


def verified_size(found: int | None, expected: int | None) -> Verdict:
    """Return the verdict on a file by its size; found: None: there is none; expected: any."""
    if found is None:
        return Verdict(FileProblem.MISSING)
    if expected is not None and found != expected:
        detail = Message("segments.size_differs", found_bytes=found, expected_bytes=expected)
        return Verdict(FileProblem.WRONG_SIZE, detail, size_bytes=found)
    return Verdict(None, size_bytes=found)


def verified_file(path: Path, expected: int | None = None) -> Verdict:
    """Return the verdict on a file by its size, without opening it; what is no file is damaged."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return Verdict(FileProblem.MISSING)
    except OSError as error:
        return Verdict(FileProblem.UNREADABLE, _words(error))
    if not stat.S_ISREG(found.st_mode):  # to open a pipe waits for who writes to it
        return Verdict(FileProblem.UNREADABLE, Message("segments.not_a_file"))
    return verified_size(found.st_size, expected)


def verified(
    open_file: Callable[[], BinaryIO], size_bytes: int | None, sha256: str, throttle: Throttle
) -> Verdict:
    """Read a file whole and return the verdict. sha256: empty: any digest is right.

    Errors of `throttle` pass to the caller.
    """
    digest, read = hashlib.sha256(), 0
    try:
        file = open_file()
    except FileNotFoundError:
        return Verdict(FileProblem.MISSING)
    except OSError as error:
        return Verdict(FileProblem.UNREADABLE, _words(error))
    with file:
        while True:
            try:
                data = file.read(READ_BYTES)
            except OSError as error:
                return Verdict(FileProblem.UNREADABLE, _words(error), size_bytes=read)
            if not data:
                break
            digest.update(data)
            read += len(data)
            throttle(len(data))
    by_size = verified_size(read, size_bytes)
    if by_size.problem is not None:
        return by_size
    found = digest.hexdigest()
    if sha256 and found != sha256:
        detail = Message("segments.digest_differs", found=found, expected=sha256)
        return Verdict(FileProblem.WRONG_DIGEST, detail, found, read)
    return Verdict(None, sha256=found, size_bytes=read)


def verified_parquet(path: Path) -> Verdict:
    """Return whether all rows of a Parquet file can be read."""
    try:
        with pq.ParquetFile(path) as file:
            for _ in file.iter_batches():
                pass
    except FileNotFoundError:
        return Verdict(FileProblem.MISSING)
    except (ArrowException, OSError, ValueError) as error:
        return Verdict(FileProblem.UNREADABLE, _words(error))
    return Verdict(None, size_bytes=path.stat().st_size)


def verified_lines(path: Path) -> Verdict:
    """Return whether a file has lines of text, the last one whole."""
    with path.open("rb") as file:
        last = b""
        for last in file:
            if b"\0" in last:
                return Verdict(FileProblem.UNREADABLE, Message("segments.not_text"))
    if not last.endswith(b"\n"):
        return Verdict(FileProblem.UNREADABLE, Message("segments.last_line_incomplete"))
    return Verdict(None)


def verified_gzip(path: Path) -> Verdict:
    """Return whether a gzip file can be read to its end."""
    try:
        with gzip.open(path, "rb") as file:
            while file.read(READ_BYTES):
                pass
    except FileNotFoundError:
        return Verdict(FileProblem.MISSING)
    except (OSError, EOFError, zlib.error) as error:
        return Verdict(FileProblem.UNREADABLE, _words(error))
    return Verdict(None)


def _words(error: Exception) -> Message:
    """Return the words of the system or of a library."""
    words = " ".join((getattr(error, "strerror", None) or str(error)).split())
    return Message.of_text(words[:DETAIL])
