"""The only access to the disk: the folder that captures are taken into.

    html/sumh/suml/host:port.zip, warc/NAME.warc.gz    whole and verified, never anything else
    .prs-get/lock                                      held while a command works here
    .prs-get/parts/SHA256, SHA256.etag                 an unfinished file, named by its digest
    .prs-get/*.json                                    notes: the job that waits, the cursor
    .prs-get/withdrawn.log                             files deleted because of withdrawals

Invariants: a name outside `.prs-get` appears after its bytes are on the disk; nothing is written
through a symbolic link that leads out of the folder. After a kill the parts are what they were.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, Final, Self

from client.errors import DiskError, FolderBusyError
from shared.full_disk import NO_ROOM

__all__ = ["Folder", "disk_said"]

OWN: Final = ".prs-get"
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@contextmanager
def disk_said(where: Path) -> Iterator[None]:
    """Turn the system's words into DiskError; what is written so far stays."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskError(
                f"{where}: the disk is full ({error.strerror}); make room and run this again: it "
                "continues where it ended"
            ) from error
        raise DiskError(f"{error.filename or where}: {error.strerror or error}") from error


class Folder:
    """A folder for captures, locked for this process. Use it in a `with` statement."""

    def __init__(self, path: Path) -> None:
        """Make and lock it; raises DiskError, FolderBusyError."""
        with disk_said(path):
            self._own = path / OWN
            self.parts.mkdir(parents=True, exist_ok=True)
            self.path = path.resolve()
            self._lock = _locked(self._own / "lock")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    @property
    def parts(self) -> Path:
        """Return where files are until they are whole."""
        return self._own / "parts"

    def at(self, place: PurePosixPath) -> Path:
        """Return where a place is on this disk; raises DiskError where a link leads it out."""
        path = self.path / place
        if not path.parent.resolve().is_relative_to(self.path):
            raise DiskError(f"{path.parent}: leads out of {self.path}; remove the link")
        return path

    def has(self, place: PurePosixPath, size_bytes: int) -> bool:
        """Return whether a file is there whole. Only whole files have such a name."""
        try:
            path = self.at(place)
            return path.is_file() and path.stat().st_size == size_bytes
        except OSError:
            return False

    def keep(self, part: Path, place: PurePosixPath) -> None:
        """Give a part, whole and synced, its name; raises DiskError."""
        path = self.at(place)
        with disk_said(path):
            made = [each for each in path.parents if not each.exists()]
            path.parent.mkdir(parents=True, exist_ok=True)
            part.replace(path)
            for folder in {path.parent, *(each.parent for each in made)}:
                _sync(folder)

    def remove(self, place: PurePosixPath) -> bool:
        """Delete the file at a place; return whether there was one. Raises DiskError."""
        path = self.at(place)
        with disk_said(path):
            try:
                path.unlink()
            except FileNotFoundError:
                return False
            _sync(path.parent)
        return True

    def files(self, below: str) -> Iterator[PurePosixPath]:
        """Give the places of all files below `html` or `warc`."""
        top = self.path / below
        for root, _, names in os.walk(top):
            for name in names:
                yield PurePosixPath((Path(root) / name).relative_to(self.path))

    def free_bytes(self) -> int:
        """Return how much room the disk has for us."""
        with disk_said(self.path):
            disk = os.statvfs(self.path)
        return disk.f_bavail * disk.f_frsize

    def note(self, name: str, value: object) -> None:
        """Write a note down, durably; None removes it. Raises DiskError."""
        path = self._own / f"{name}.json"
        draft = path.with_suffix(".draft")
        with disk_said(path):
            if value is None:
                path.unlink(missing_ok=True)
                return
            with draft.open("w") as file:
                json.dump(value, file)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            _sync(self._own)

    def noted(self, name: str) -> Any:
        """Return a note; None: there is none that can be read."""
        try:
            return json.loads((self._own / f"{name}.json").read_bytes())
        except (OSError, ValueError):
            return None

    def notes(self, prefix: str) -> list[str]:
        """Return the names of the notes that begin so."""
        return [path.stem for path in self._own.glob(f"{prefix}*.json")]

    def drop_part(self, sha256: str) -> None:
        """Remove a part that no run will continue."""
        if _SHA256.fullmatch(sha256):
            with disk_said(self.parts):
                for name in (sha256, f"{sha256}.etag"):
                    (self.parts / name).unlink(missing_ok=True)

    def tidy(self, wanted: Collection[str]) -> None:
        """Remove all parts but those of these SHA-256: what they are of is not given away now."""
        for path in self.parts.iterdir():
            if path.name.partition(".")[0] not in wanted:
                with disk_said(path):
                    path.unlink(missing_ok=True)

    def log_withdrawn(self, line: str) -> None:
        """Write down that something was deleted, and why."""
        path = self._own / "withdrawn.log"
        with disk_said(path), path.open("a") as file:
            file.write(line + "\n")


def _locked(path: Path) -> int:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        with contextlib.suppress(OSError):
            who = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
        os.close(handle)
        raise FolderBusyError(
            f"{path.parent.parent}: prs-get works here already (process {who or 'unknown'}); "
            "this run has nothing to do"
        ) from error
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
