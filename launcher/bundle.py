"""Installs a release from a genuine archive: unpacks it, and runs its own installer.

The archive's own `install.py --stage` (docs/adr/0116) makes `versions/VERSION` from its wheels
without a network, tries it and writes `complete` last. A half-made one is begun again.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tarfile
from pathlib import Path, PurePosixPath
from typing import Final

from launcher.errors import BrokenError, LauncherError, OfflineError, RefusedError
from launcher.installation import Installation

__all__ = ["UNREACHED", "install", "try_launcher"]

INSTALL_S: Final = 3600
TRY_S: Final = 1200  # more than the self-test's own limits (`time_limits`): slowness is no fault
TOLD: Final = 700
MOST_FILES: Final = 10_000
UNREACHED: Final = 3
"""The exit code of a launcher's self-test that did not reach the manager."""


def install(archive: Path, version: str, installation: Installation) -> None:
    """Make `versions/VERSION`, whole. Raises LauncherError, RefusedError, BrokenError."""
    folder = _unpacked(archive, installation.scratch / "unpacked")
    if (folder / "VERSION").read_text().strip() != version:
        raise RefusedError(f"the archive that is signed as {version} says another version")
    python = getattr(sys, "_base_executable", sys.executable)
    _run(
        [python, "-I", str(folder / "install.py"), str(installation.home), "--stage"],
        f"install.py of {version}",
        INSTALL_S,
    )
    if not installation.is_complete(version):
        raise BrokenError(f"install.py of {version} left no whole release")


def try_launcher(version: str, installation: Installation) -> None:
    """Run the new release's own launcher in rehearsal: it must be able to replace itself.

    Raises LauncherError, BrokenError, OfflineError (it did not reach the manager).
    """
    words = [
        str(installation.python(version)),
        "-I",
        "-m",
        "launcher",
        "--home",
        str(installation.home),
    ]
    words += ["--data", str(installation.data), "--self-test"]
    said = _run(words, f"the launcher of {version}", TRY_S, UNREACHED)
    if "launcher works" not in said:
        raise BrokenError(f"the launcher of {version} does not work: {said[-TOLD:]}")


def _unpacked(archive: Path, target: Path) -> Path:
    """Unpack an archive of one folder, plain files only, and return that folder."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    try:
        with tarfile.open(archive, "r:gz") as opened:
            for number, member in enumerate(opened):
                parts = PurePosixPath(member.name).parts
                plain = member.isfile() or member.isdir()
                outside = member.name.startswith("/") or ".." in parts or not parts
                if not plain or outside or number >= MOST_FILES:
                    raise RefusedError(f"the archive holds {member.name[:80]!r}: not unpacked")
                path = target.joinpath(*parts)
                if member.isdir():
                    path.mkdir(parents=True, exist_ok=True)
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                source = opened.extractfile(member)
                assert source is not None, "a plain file"
                with path.open("xb") as file:
                    shutil.copyfileobj(source, file)
    except (tarfile.TarError, EOFError) as error:
        raise RefusedError(f"the archive cannot be unpacked: {error}") from error
    except OSError as error:
        raise LauncherError(f"unpacking: {error.strerror or error}; make room") from error
    folders = list(target.iterdir())
    if len(folders) != 1 or not (folders[0] / "install.py").is_file():
        raise RefusedError("the archive is none of a release: it must hold one folder, install.py")
    return folders[0]


def _run(words: list[str], what: str, seconds: float, unreached: int = 0) -> str:
    """Return what a program says. unreached: its code where the network failed; 0: it has none."""
    try:
        with subprocess.Popen(
            words,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                said, _ = process.communicate(timeout=seconds)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)  # with all that it started: pip writes on
                raise
    except subprocess.TimeoutExpired as error:
        raise BrokenError(f"{what} was not done within {seconds:.0f} s") from error
    except OSError as error:
        raise BrokenError(f"{what}: {error}") from error
    if process.returncode:
        why = f"{what} ended with {process.returncode}: {said[-TOLD:].strip()}"
        raise OfflineError(why) if process.returncode == unreached else BrokenError(why)
    return said


def _environment() -> dict[str, str]:
    """Return the environment without what would change where Python looks."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIP_", "PYTHON", "VIRTUAL_ENV"))
    }
