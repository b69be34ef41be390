"""Where the launcher of this installation is, and how it is started (docs/adr/0122).

Only an agent that was installed from an archive has one: its interpreter stands in
`HOME/versions/VERSION/venv` (docs/adr/0116).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from agent.errors import HomeError

__all__ = ["launcher_words", "start_launcher"]


def launcher_words(data: Path) -> list[str]:
    """Return the command that updates this installation. Raises HomeError: there is none."""
    prefix = Path(sys.prefix)
    home = prefix.parents[2]
    if prefix.name != "venv" or prefix.parents[1].name != "versions":
        raise HomeError(
            f"{prefix}: this agent was not installed from an archive of a release, so it is "
            "updated the way it was installed; docs/partner.md tells of archives"
        )
    # What `current` leads to now; the process that asks may be older.
    python = home / "current" / "venv" / "bin" / "python"
    words = [str(python), "-I", "-m", "launcher", "--home", str(home)]
    return [*words, "--data", str(data.absolute())]


def start_launcher(data: Path) -> None:
    """Start it beside this process, which it may stop. Raises HomeError."""
    words = launcher_words(data)
    try:
        subprocess.Popen(  # noqa: S603 - an interpreter of this installation
            [*_outside_of_the_service(), *words, "--quiet"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=dict(os.environ),
        )
    except OSError as error:
        raise HomeError(f"{words[0]}: cannot be started ({error.strerror})") from error


def _outside_of_the_service() -> list[str]:
    """Return what goes before a command that systemd must not end together with this agent."""
    if "INVOCATION_ID" not in os.environ or shutil.which("systemd-run") is None:
        return []
    return ["systemd-run", "--user", "--collect", "--quiet"]
