"""Fetch a file that has a size and a SHA-256, in parallel parts, each going on where it stopped.

    NAME.part0, NAME.part1 ...   the parts as they come
    NAME                         complete, verified

Invariants: NAME is complete and right, or not there; what lies in parts is never fetched again,
unless the file at the centre is another one (If-Range); a wrong sum removes all of it.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from client.errors import DamagedError, RefusedError
from client.server import Server

__all__ = ["Fetched", "RemoteFile", "Told", "fetch", "is_whole"]

PART_BYTES: Final = 16 * 1024**2
READ_BYTES: Final = 256 * 1024

Told = Callable[[int], None]
"""Is told of bytes that came."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file at the centre."""

    name: str
    address: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that is here. new_bytes: that came over the network this time."""

    path: Path
    new_bytes: int


def is_whole(path: Path, file: RemoteFile) -> bool:
    """Tell whether a file is here, complete and right."""
    return (
        path.is_file() and path.stat().st_size == file.size_bytes and _sha256([path]) == file.sha256
    )


def fetch(server: Server, file: RemoteFile, target: Path, at_once: int, told: Told) -> Fetched:
    """Fetch a file unless it is here; raises GetError, and then the parts stay for the next time.

    at_once: parts in parallel.
    """
    if is_whole(target, file):
        told(file.size_bytes)
        return Fetched(target, 0)
    target.parent.mkdir(parents=True, exist_ok=True)
    parts = _Parts(server, file, target, told)
    parts.check()
    with ThreadPoolExecutor(max(1, min(at_once, len(parts.paths)))) as pool:
        list(pool.map(parts.fetch, range(len(parts.paths))))
    if _sha256(parts.paths) != file.sha256:
        for path in parts.paths:
            path.unlink()
        raise DamagedError(
            f"{file.name}: its SHA-256 is not {file.sha256}; what came was removed, fetch it again"
        )
    _join(parts.paths, target)
    return Fetched(target, parts.new_bytes)


class _Parts:
    """The parts of one file."""

    def __init__(self, server: Server, file: RemoteFile, target: Path, told: Told) -> None:
        self._server = server
        self._file = file
        self._told = told
        self._counting = threading.Lock()
        count = max(1, -(-file.size_bytes // PART_BYTES))
        self.paths = [target.with_name(f"{target.name}.part{n}") for n in range(count)]
        self._mark = target.with_name(f"{target.name}.of")
        self.new_bytes = 0

    def check(self) -> None:
        """Drop parts of another file of this name."""
        known = self._mark.read_text() if self._mark.exists() else ""
        if known != self._file.sha256:
            for path in self._mark.parent.glob(f"{self._mark.stem}.part*"):
                path.unlink()
            self._mark.write_text(self._file.sha256)

    def fetch(self, number: int) -> None:
        """Fetch what one part lacks."""
        path = self.paths[number]
        start = number * PART_BYTES
        end = min(start + PART_BYTES, self._file.size_bytes)
        held = path.stat().st_size if path.exists() else 0
        if held > end - start:
            path.unlink()
            held = 0
        self._told(held)
        attempt = 0
        with path.open("ab") as out:
            while held < end - start:
                try:
                    got = self._some(out.write, start + held, end)
                except httpx.TransportError as error:
                    got = out.tell() - held
                    if not got:
                        self._server.wait(attempt, f"{self._file.name}: {error}")
                        attempt += 1
                    held = out.tell()
                    continue
                held = out.tell()
                # A line that breaks after some bytes has done something: it is no try.
                attempt = 0 if got else attempt + 1
                if not got:
                    self._server.wait(attempt, f"{self._file.name}: an empty answer")

    def _some(self, write: Callable[[bytes], int], start: int, end: int) -> int:
        file = self._file
        fields = {"Range": f"bytes={start}-{end - 1}"}
        got = 0
        with self._server.stream(file.address, fields) as answer:
            if answer.status_code != 206 and not (answer.status_code == 200 and start == 0):
                if answer.is_success:
                    raise RefusedError(
                        f"{file.name}: the centre, or a proxy before it, ignores ranges; "
                        "it cannot be fetched in parts"
                    )
                self._server.refused(answer, 0)
                return 0
            # In the pieces that come: a chunk that is gathered is lost where the line breaks.
            for data in answer.iter_raw():
                kept = data[: end - start - got]
                write(kept)
                got += len(kept)
                with self._counting:
                    self.new_bytes += len(kept)
                self._told(len(kept))
                if got == end - start:
                    break
        return got


def _sha256(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while data := file.read(READ_BYTES):
                digest.update(data)
    return digest.hexdigest()


def _join(paths: list[Path], target: Path) -> None:
    """Make one file of the parts; the first becomes it, so one part costs no copy."""
    with paths[0].open("ab") as out:
        for path in paths[1:]:
            with path.open("rb") as file:
                while data := file.read(READ_BYTES):
                    out.write(data)
            path.unlink()
        out.flush()
        os.fsync(out.fileno())
    paths[0].replace(target)
    target.with_name(f"{target.name}.of").unlink(missing_ok=True)
