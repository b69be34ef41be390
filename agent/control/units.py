"""The systemd unit of one agent, of the user's own manager: no root is needed.

systemd ends a process that gives no sign of life for as long as one that hangs
(`agent.control.lock`), and starts the next.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from agent.control.lock import HUNG_S
from agent.errors import HomeError

__all__ = ["install_unit", "remove_unit", "unit_path", "unit_text"]


def unit_path(home: Path) -> Path:
    """Return where the unit of a home lies: one for each home of a user."""
    config = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    number = hashlib.sha256(str(home).encode()).hexdigest()[:8]
    return Path(config) / "systemd" / "user" / f"prs-{number}.service"


def unit_text(home: Path, words: Sequence[str]) -> str:
    """Return a unit that runs an agent as long as the machine does.

    After `prs stop` it is not started again before the machine is: the exit code is 0 then.
    """
    return f"""[Unit]
Description=PRS web robot in {_escaped(str(home))}
After=network-online.target

[Service]
ExecStart={" ".join(f'"{_escaped(word)}"' for word in words)}
Restart=on-failure
RestartSec=60
TimeoutStopSec=60
NotifyAccess=main
WatchdogSec={HUNG_S:.0f}

[Install]
WantedBy=default.target
"""


def install_unit(home: Path, words: Sequence[str]) -> list[str]:
    """Write and start the unit; return what a person should know. Raises HomeError, OSError."""
    path = unit_path(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(unit_text(home, words))
    try:
        _systemctl("daemon-reload")
        _systemctl("enable", "--now", path.name)
    except HomeError:
        path.unlink()
        raise
    lingers = _run("loginctl", "enable-linger").returncode == 0
    said = [f"systemd runs {path}; systemctl --user status {path.name} shows it"]
    if not lingers:
        said.append("it ends when you log out; root may change that: loginctl enable-linger USER")
    return said


def remove_unit(home: Path) -> bool:
    """Stop and remove the unit; tell whether there was one. Raises HomeError, OSError."""
    path = unit_path(home)
    if not path.exists():
        return False
    _systemctl("disable", "--now", path.name)
    path.unlink()
    _systemctl("daemon-reload")
    return True


def _systemctl(*words: str) -> None:
    done = _run("systemctl", "--user", *words)
    if done.returncode:
        raise HomeError(
            f"systemctl --user {' '.join(words)}: {done.stderr.strip()}; where this user has no "
            "systemd of its own, cron starts the agent: prs schedule cron"
        )


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603  # words of ours
            words, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise HomeError(
            f"this machine has no systemd (no command {words[0]}): prs schedule cron"
        ) from error


def _escaped(text: str) -> str:
    if not text.isprintable():
        raise HomeError(f"{text!r}: cannot stand in a unit; choose a folder with a plain name")
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return text.replace("%", "%%").replace("$", "$$")
