"""The systemd units of one agent, of the user's own manager: no root is needed.

One runs the agent; a timer has another look for a release each day. systemd ends a process that
gives no sign of life for as long as one that hangs (`agent.control.lock`), and starts the next.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from agent.control.cron_times import UpdateTime
from agent.control.lock import HUNG_S
from agent.errors import HomeError

__all__ = [
    "install_timer",
    "install_unit",
    "remove_units",
    "start_unit",
    "timer_path",
    "timer_text",
    "unit_path",
    "unit_text",
    "update_text",
]

SPREAD_S: Final = 3600
"""Beside the installation's own time: after a power cut all timers of a site are due at once."""


def unit_path(home: Path) -> Path:
    """Return where the unit of a home lies: one for each home of a user."""
    config = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    number = hashlib.sha256(str(home).encode()).hexdigest()[:8]
    return Path(config) / "systemd" / "user" / f"prs-{number}.service"


def timer_path(home: Path) -> Path:
    """Return where the timer for releases of a home lies, beside the unit that it starts."""
    return unit_path(home).with_name(f"{unit_path(home).stem}-update.timer")


def unit_text(home: Path, words: Sequence[str]) -> str:
    """Return a unit that runs an agent as long as the machine does.

    After `prs stop` only `prs start` or a start of the machine starts it: the exit code is 0 then.
    """
    return f"""[Unit]
Description=PRS web robot in {_escaped(str(home))}
After=network-online.target

[Service]
ExecStart={_command(words)}
Restart=on-failure
RestartSec=60
TimeoutStopSec=60
NotifyAccess=main
WatchdogSec={HUNG_S:.0f}

[Install]
WantedBy=default.target
"""


def update_text(home: Path, words: Sequence[str]) -> str:
    """Return a unit that looks for a release once; what it starts again lives on after it."""
    return f"""[Unit]
Description=Look for a release of the PRS web robot in {_escaped(str(home))}
After=network-online.target

[Service]
Type=oneshot
ExecStart={_command(words)}
KillMode=process
"""


def timer_text(home: Path, when: UpdateTime) -> str:
    """Return a timer that starts the unit of its name on a time; missed: with the machine."""
    return f"""[Unit]
Description=Look each day for a release of the PRS web robot in {_escaped(str(home))}

[Timer]
OnCalendar={when.of_systemd}
RandomizedDelaySec={SPREAD_S}
Persistent=true

[Install]
WantedBy=timers.target
"""


def install_unit(home: Path, words: Sequence[str]) -> list[str]:
    """Write and start the unit; return what a person should know. Raises HomeError, OSError."""
    path = unit_path(home)
    _install({path: unit_text(home, words)}, path.name)
    said = [f"systemd runs {path}; systemctl --user status {path.name} shows it"]
    if not _lingers():
        said.append("it ends when you log out; root may change that: loginctl enable-linger USER")
    return said


def install_timer(home: Path, words: Sequence[str], when: UpdateTime) -> list[str]:
    """Run a command that updates the units; return what to tell. Raises HomeError, OSError."""
    path = timer_path(home)
    texts = {
        path.with_suffix(".service"): update_text(home, words),
        path: timer_text(home, when),
    }
    _install(texts, path.name)
    return [f"systemd looks for releases, each day about {when.hour:02}:{when.minute:02}: {path}"]


def remove_units(home: Path) -> bool:
    """Stop and remove all; tell whether systemd started the agent. Raises HomeError, OSError."""
    unit, timer = unit_path(home), timer_path(home)
    there = [path for path in (timer, unit) if path.exists()]
    for path in there:
        _systemctl("disable", "--now", path.name)
        path.unlink()
    timer.with_suffix(".service").unlink(missing_ok=True)
    if there:
        _systemctl("daemon-reload")
    return unit in there


def start_unit(home: Path) -> bool:
    """Start the agent; tell whether systemd is who starts it. Raises HomeError."""
    path = unit_path(home)
    if not path.exists():
        return False
    _systemctl("start", path.name)
    return True


def _install(texts: Mapping[Path, str], started: str) -> None:
    """Write units and start one of them; where systemd cannot, leave none of them."""
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    try:
        _systemctl("daemon-reload")
        _systemctl("enable", "--now", started)
    except HomeError:
        for path in texts:
            path.unlink()
        raise


def _lingers() -> bool:
    """Keep the units running after this login; return whether they do."""
    try:
        return _run("loginctl", "enable-linger").returncode == 0
    except HomeError:  # a machine without logind
        return False


def _systemctl(*words: str) -> None:
    done = _run("systemctl", "--user", *words)
    if done.returncode:
        raise HomeError(
            "agent_errors.systemctl_failed",
            command=f"systemctl --user {' '.join(words)}",
            why=done.stderr.strip(),
        )


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603  # words of ours
            words, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise HomeError("agent_errors.no_systemd", command=words[0]) from error


def _command(words: Sequence[str]) -> str:
    return " ".join(f'"{_escaped(word)}"' for word in words)


def _escaped(text: str) -> str:
    if not text.isprintable():
        raise HomeError("agent_errors.unit_word", text=text)
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return text.replace("%", "%%").replace("$", "$$")
