"""Files of the launcher (docs/adr/0116), written whole or not at all, and its log.

Invariant: `write_whole` and `point_at` leave the old or the new, never half, also after kill -9.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from launcher.errors import LauncherError

__all__ = ["Installation", "Journal", "write_whole"]

LOG_BYTES: Final = 1_000_000
LINE_CHARS: Final = 2000


@dataclass(frozen=True)
class Installation:
    """The folders of one installation. data: the agent's own folder."""

    home: Path
    data: Path

    @property
    def versions(self) -> Path:
        """A folder a release."""
        return self.home / "versions"

    @property
    def current(self) -> Path:
        """The link that says which release is run."""
        return self.home / "current"

    @property
    def own(self) -> Path:
        """Files of the launcher."""
        return self.home / "launcher"

    @property
    def root(self) -> Path:
        """The first root, by which all others are judged."""
        return self.own / "root.json"

    def has_root(self) -> bool:
        """Return whether releases can be verified here; else updates are off (docs/adr/0173)."""
        return self.root.exists()

    @property
    def scratch(self) -> Path:
        """Downloads and unpacked archives; emptied at each start."""
        return self.own / "scratch"

    def release(self, version: str) -> Path:
        """Return the folder of a release."""
        return self.versions / version

    def python(self, version: str) -> Path:
        """Return the interpreter of a release."""
        return self.release(version) / "venv" / "bin" / "python"

    def prs(self, version: str) -> Path:
        """Return the agent's command of a release."""
        return self.release(version) / "venv" / "bin" / "prs"

    def is_complete(self, version: str) -> bool:
        """Return whether a release was installed to its end, and its Python is still there.

        An upgrade of the system may take that away; such a release is installed again.
        """
        whole = bool(version) and (self.release(version) / "complete").is_file()
        return whole and self.python(version).exists()

    def running(self) -> str:
        """Return the version that `current` leads to; empty: none that is whole."""
        try:
            version = self.current.readlink().name
        except OSError:
            return ""
        return version if self.is_complete(version) else ""

    def point_at(self, version: str) -> None:
        """Switch `current` to a release."""
        part = self.current.with_name("current.part")
        part.unlink(missing_ok=True)
        part.symlink_to(f"versions/{version}")
        part.replace(self.current)
        _sync_folder(self.home)


class Journal:
    """One line a step, in `launcher/update.log` and on standard error.

    What others said may stand in it: nothing of that is a second line, or a command to a terminal.
    """

    def __init__(self, installation: Installation, *, quiet: bool) -> None:
        self._path = installation.own / "update.log"
        self._quiet = quiet

    def write(self, text: str) -> None:
        """Write a line; a disk without room does not stop the caller."""
        plain = "".join(one if one.isprintable() else " " for one in text[:LINE_CHARS])
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S %z')} {plain}\n"
        if not self._quiet:
            sys.stderr.write(line)
        try:
            if self._path.exists() and self._path.stat().st_size > LOG_BYTES:
                self._path.replace(self._path.with_name("update.log.1"))
            with self._path.open("a", errors="backslashreplace") as file:
                file.write(line)
        except OSError as error:
            sys.stderr.write(f"{self._path}: {error.strerror}\n")


def write_whole(path: Path, text: str) -> None:
    """Replace a file, durably. Raises LauncherError, OSError."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise LauncherError(f"{path}: cannot be written ({error.strerror}); make room") from error


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
