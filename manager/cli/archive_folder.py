"""Extraction of a received archive into a folder: all of its files, or none.

Invariant: no file appears under its final name before the whole archive is on the disk; existing
files are replaced only if the caller says so; no name leads outside the folder.
"""

from __future__ import annotations

import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from manager.cli.manager_client import RefusedError

__all__ = ["Unpacked", "unpack"]

NAME: Final = re.compile(r"(?:[a-z]+/)?[a-z0-9.-]*[a-z0-9-][a-z0-9.-]*")


@dataclass
class Unpacked:
    """Result of an archive. said: the lines of the file that is shown, not kept.

    others: files that were in the same folders before and are not of this archive.
    """

    written: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def unpack(chunks: Iterator[bytes], folder: Path, *, shown: str, replace: bool) -> Unpacked:
    """Write the files of a tar archive; raises RefusedError, and then nothing has changed.

    shown: the name of a file whose lines are returned instead.
    """
    unpacked = Unpacked()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Beside the files themselves, so that moving them there needs no second copy.
        with tempfile.TemporaryDirectory(prefix=".prsm-export-", dir=folder) as staged:
            _read(chunks, Path(staged), shown, unpacked)
            _refuse_foreign(folder, unpacked, replace)
            for name in unpacked.written:
                (folder / name).parent.mkdir(exist_ok=True)
                (Path(staged) / name).replace(folder / name)
    except OSError as error:
        raise RefusedError(f"{error.filename or folder}: {error.strerror or error}") from error
    for parent in {(folder / name).parent for name in unpacked.written if "/" in name}:
        present = {f"{parent.name}/{path.name}" for path in parent.iterdir()}
        unpacked.others += sorted(present - set(unpacked.written))
    return unpacked


def _read(chunks: Iterator[bytes], staged: Path, shown: str, unpacked: Unpacked) -> None:
    try:
        # A stream is all that tarfile needs: it only reads.
        with tarfile.open(mode="r|", fileobj=cast(BinaryIO, _Stream(chunks))) as archive:
            for member in archive:
                body = archive.extractfile(member)
                if body is None or not NAME.fullmatch(member.name):
                    raise RefusedError(f"the manager sent {member.name[:80]!r}: no file of ours")
                if member.name == shown:
                    unpacked.said = body.read().decode().splitlines()
                else:
                    _keep(body, staged / member.name)
                    unpacked.written.append(member.name)
    except tarfile.TarError as error:
        raise RefusedError(f"what the manager sent is no whole archive: {error}") from error


def _keep(body: IO[bytes], target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    with target.open("xb") as file:
        shutil.copyfileobj(body, file)
        file.flush()
        os.fsync(file.fileno())


def _refuse_foreign(folder: Path, unpacked: Unpacked, replace: bool) -> None:
    there = [name for name in unpacked.written if os.path.lexists(folder / name)]
    if there and not replace:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise RefusedError(
            f"{folder / there[0]}{more} exist already: nothing was written; name another folder, "
            "or say --replace"
        )


class _Stream:
    """Bytes that come in pieces, read as a file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._left = b""

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer at the end only."""
        parts = [self._left]
        have = len(self._left)
        while have < size:
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            parts.append(chunk)
            have += len(chunk)
        whole = b"".join(parts)
        self._left = whole[size:]
        return whole[:size]
