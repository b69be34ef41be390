"""The launcher of this installation: its path, its start, and what it reads (docs/adr/0122).

Only an agent that was installed from an archive has one: its interpreter stands in
`HOME/versions/VERSION/venv` (docs/adr/0116).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from agent.errors import HomeError
from agent.settings.home import write_whole

__all__ = [
    "LauncherProgram",
    "changed_s",
    "installation",
    "launcher_words",
    "note_synced",
    "start_detached",
    "start_launcher",
]

PENDING_FILE: Final = "untold.json"  # in the launcher's folder: what it could not tell the manager
OFFER_MARK: Final = "looked"  # there too: changed whenever it has heard what is to be run here
TRY_MARK: Final = "tried"  # there too: changed when an agent last had it look
ROOT: Final = "root.json"  # there too: by what it judges releases
TRY_S: Final = 3600.0
OVERDUE_S: Final = 26 * 3600.0  # a look a day, and two hours for one that is late


class LauncherProgram:
    """Starts the launcher for unfinished work: undelivered reports, an overdue update check."""

    def __init__(
        self,
        data: Path,
        monotonic_s: Callable[[], float] = time.monotonic,
        epoch_s: Callable[[], float] = time.time,
    ) -> None:
        self._data = data
        self._home = installation()
        self._monotonic_s = monotonic_s
        self._epoch_s = epoch_s
        self._delivery_s = -TRY_S
        self._check_s = -OVERDUE_S
        self.process: subprocess.Popen[bytes] | None = None  # the last one that was started

    def start_if_due(self, *, is_open: bool) -> bool:
        """Start the launcher where work waits for it; return whether it was started.

        Call this when the manager has answered.

        is_open: whether it is within the site's hours; only then a release may be fetched.
        """
        now_s = self._monotonic_s()
        if self._home is None or (self.process is not None and self.process.poll() is None):
            return False
        own = self._home / "launcher"
        if is_open and now_s - self._check_s >= OVERDUE_S and self._is_overdue(self._home):
            self._check_s = now_s
            with contextlib.suppress(OSError):
                _mark(
                    own / TRY_MARK, self._epoch_s()
                )  # each night's process begins afresh, and must not try again
            self._start()  # it tells, too
            return True
        if now_s - self._delivery_s >= TRY_S and (own / PENDING_FILE).exists():
            self._delivery_s = now_s
            self._start("--tell")
            return True
        return False

    def _is_overdue(self, home: Path) -> bool:
        """Return whether neither cron nor a timer had it look for a release lately."""
        if not (home / "launcher" / ROOT).exists():
            return False  # it could believe none
        marks = (
            *(home / "launcher" / name for name in (OFFER_MARK, TRY_MARK)),
            home / "current/complete",
        )
        last_s = max(map(changed_s, marks))
        return not 0 <= self._epoch_s() - last_s < OVERDUE_S

    def _start(self, *options: str) -> None:
        with contextlib.suppress(HomeError):  # tomorrow's update does it, too
            self.process = start_launcher(self._data, *options)


def _mark(path: Path, at_s: float) -> None:
    path.touch()
    os.utime(path, (at_s, at_s))


def changed_s(path: Path) -> float:
    """Return when a file was changed, epoch seconds; 0: it is not there."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def note_synced(path: Path, version: str, at_ms: int) -> None:
    """Keep that a version was answered by its manager: for the launcher the proof of a release.

    Raises DiskFullError.
    """
    write_whole(path, [json.dumps({"version": version, "at_ms": at_ms}).encode()])


def installation() -> Path | None:
    """Return the folder of the installation; None: it was not made from an archive."""
    prefix = Path(sys.prefix)
    parents = prefix.parents
    if prefix.name != "venv" or len(parents) < 3 or parents[1].name != "versions":
        return None
    return parents[2]


def launcher_words(data: Path) -> list[str]:
    """Return the command that updates this installation. Raises HomeError: there is none."""
    home = installation()
    if home is None:
        raise HomeError("agent_errors.not_from_archive", folder=sys.prefix)
    # What `current` leads to now; the process that asks may be older.
    python = home / "current" / "venv" / "bin" / "python"
    words = [str(python), "-I", "-m", "launcher", "--home", str(home)]
    return [*words, "--data", str(data.absolute())]


def start_launcher(data: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start it beside this process, which it may stop. Raises HomeError."""
    words = launcher_words(data)
    return start_detached([*_outside_of_the_service(), *words, "--quiet", *options], words[0])


def start_detached(words: Sequence[str], program: str) -> subprocess.Popen[bytes]:
    """Start a program of this installation that outlives this process. Raises HomeError."""
    try:
        return subprocess.Popen(  # noqa: S603 - our own program
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise HomeError(
            "agent_errors.program_not_started", program=program, why=error.strerror
        ) from error


def _outside_of_the_service() -> list[str]:
    """Return what goes before a command that systemd must not end together with this agent.

    Nor what that one starts when it is through: the agent itself, where no unit of ours runs it.
    """
    bus = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}") / "bus"
    if "INVOCATION_ID" not in os.environ or not bus.exists() or not shutil.which("systemd-run"):
        return []  # also in a service of the machine's own systemd: only root could start another
    return ["systemd-run", "--user", "--collect", "--quiet", "--property=KillMode=process"]
