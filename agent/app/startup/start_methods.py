"""Start methods of an agent: cron, systemd or a person; installed and removed.

Invariant: at most one of the two starts it. What is arranged names the program that stays the same
over updates (docs/adr/0116), not the release that runs now.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Final, Literal

from agent.adapters.clock import SystemClock
from agent.app.site.site import windows_of
from agent.control.cron_times import UpdateTime, cron_times, update_time
from agent.control.crontab import block_in, cron_command, read_crontab, with_block, write_crontab
from agent.control.launcher_program import start_detached
from agent.control.lock import holder_of
from agent.control.units import (
    install_timer,
    install_unit,
    remove_units,
    start_unit,
    timer_path,
    unit_path,
)
from agent.control.zone import system_zone
from agent.errors import HomeError
from agent.link.link_memory import Memory
from agent.settings import Home, Settings

__all__ = [
    "STARTERS",
    "Starter",
    "describe_restart",
    "describe_start_methods",
    "install_start_method",
    "outdated_schedule_command",
    "program",
    "start_lines",
    "start_now",
    "update_lines",
]

Starter = Literal["cron", "systemd", "none"]
STARTERS: Final[tuple[Starter, ...]] = ("cron", "systemd", "none")

STARTED_S: Final = 20.0
"""So long a process that was started may take until it works here."""

NO_TIMER: Final = "no daily check for releases: add its timer with prs schedule systemd"


def program(home: Path) -> list[str]:
    """Return the words with which this home's `prs` is called from anywhere."""
    named = os.environ.get("PRS_PROGRAM") or sys.argv[0]
    return [str(Path(named).absolute()), "--home", str(home.absolute())]


def start_lines(settings: Settings) -> list[str]:
    """Return the lines for a crontab, at this installation's own minute of the hour.

    An agent that may always work is started with the machine and looked after each hour; one with
    hours is started in each of them and ends with them.
    """
    windows = windows_of(settings)
    minute = _spread_minute(settings)
    command = cron_command(_cron_words(settings))
    if windows.open_share() >= 1:
        return [f"@reboot {command}", f"{minute} * * * * {command}"]
    times = cron_times(windows, minute, system_zone())
    return [f"{time} {command}" for time in times]


def _cron_words(settings: Settings) -> list[str]:
    """Return the command by which cron starts the agent; with hours it ends with them."""
    always = windows_of(settings).open_share() >= 1
    once = [] if always else ["--once"]
    return [*program(settings.home), "run", *once, "--quiet", "--replace-hung"]


def update_lines(settings: Settings) -> list[str]:
    """Return the line by which cron looks for a release once a day; none: not from an archive."""
    if not _is_from_archive():
        return []
    time = _update_time(settings).of_cron
    return [f"{time} {cron_command(_update_words(settings.home))}"]


def _update_time(settings: Settings) -> UpdateTime:
    """Return when this installation looks for a release."""
    return update_time(windows_of(settings), _spread_minute(settings), system_zone())


def _spread_minute(settings: Settings) -> int:
    home = Home(settings.home)
    rng = random.SystemRandom()
    memory = Memory.open(home.link_state, epoch_ms=SystemClock().epoch_ms(), rng=rng)
    return memory.kept.spread_minute


def _update_words(home: Path) -> list[str]:
    return [*program(home), "update", "--quiet"]


def _is_from_archive() -> bool:
    return bool(os.environ.get("PRS_PROGRAM"))


def install_start_method(settings: Settings, starter: Starter) -> list[str]:
    """Install cron or systemd as start method, or none; return what to tell. Raises HomeError."""
    home = settings.home.absolute()
    words = [*program(home), "run", "--quiet", "--replace-hung"]
    said: list[str] = []
    if starter != "systemd" and remove_units(home):
        said.append("removed from systemd")
    if starter == "systemd":
        said += install_unit(home, words)
        if _is_from_archive():
            said += install_timer(home, _update_words(home), _update_time(settings))
    if starter == "cron":
        lines = [*start_lines(settings), *update_lines(settings)]
        write_crontab(with_block(read_crontab(), home, lines))
        said += ["cron starts it:", *(f"  {line}" for line in lines)]
    elif shutil.which("crontab"):
        said += _take_out(home)
    return said


def _take_out(home: Path) -> list[str]:
    """Take the agent out of the crontab; return what to tell."""
    table = read_crontab()
    before = block_in(table, home)
    if before:
        write_crontab(with_block(table, home, []))
    return ["removed from the crontab"] if any(map(_starts, before)) else []


def _starts(line: str) -> bool:
    """Return whether a line of cron starts the agent; else it looks for a release."""
    return not line.endswith(" update --quiet")


def describe_start_methods(home: Path) -> list[str]:
    """Return who starts the agent, in sentences; lines of cron stand behind theirs, indented."""
    home = home.absolute()
    said: list[str] = []
    if shutil.which("crontab"):
        lines = block_in(read_crontab(), home)
        what = "starts" if any(map(_starts, lines)) else "updates"
        said += [f"cron {what} it:", *(f"  {line}" for line in lines)] if lines else []
    if unit_path(home).exists():
        by_cron = bool(said)
        said.append(f"systemd starts it: {unit_path(home)}")
        if timer_path(home).exists():
            said.append(f"systemd looks for releases: {timer_path(home)}")
        elif _is_from_archive() and not by_cron:
            said.append(NO_TIMER)
    return said or ["no start method: install one with prs schedule cron or prs schedule systemd"]


def outdated_schedule_command(settings: Settings) -> str:
    """Return the command that brings what is arranged to today's hours; empty: it is of them."""
    home = settings.home.absolute()
    if shutil.which("crontab"):
        lines = block_in(read_crontab(), home)
        there = [line for line in lines if _starts(line)]
        looks = [line for line in lines if not _starts(line)]
        if there and _times(there) != _times(start_lines(settings)):
            return "prs schedule cron"
        if (
            there
            and looks
            and _is_from_archive()
            and _times(looks) != _times(update_lines(settings))
        ):
            return "prs schedule cron"
    timer = timer_path(home)
    if timer.exists() and f"={_update_time(settings).of_systemd}\n" not in timer.read_text():
        return "prs schedule systemd"
    return ""


def _times(lines: list[str]) -> list[list[str]]:
    return [line.split()[: 1 if line.startswith("@") else 5] for line in lines]


def start_now(settings: Settings) -> list[str]:
    """Start the agent by systemd, or as cron does; return what to tell people. Raises HomeError."""
    home = settings.home.absolute()
    if start_unit(home):
        return [f"systemd has started it: {unit_path(home).name}"]
    lines = _lines_of_cron(home)
    if not lines:
        raise HomeError("agent_errors.no_start_method")
    pid = _start_as_cron(settings)
    said = "it ran and had no work" if pid is None else f"started, as process {pid}"
    return [f"{said}; from now on cron starts it:", *(f"  {one}" for one in lines)]


def _start_as_cron(settings: Settings) -> int | None:
    """Start the command of cron's lines; return its process id, or None: it ended without fault."""
    words = _cron_words(settings)
    process = start_detached(words, words[0])
    lock = Home(settings.home).lock
    until_s = time.monotonic() + STARTED_S
    while process.poll() is None and holder_of(lock) is None and time.monotonic() < until_s:
        time.sleep(0.05)  # until it holds the lock; nothing tells of a lock but a look at it
    if process.poll():
        raise HomeError("agent_errors.start_ended", exit_code=process.returncode)
    return process.pid if process.returncode is None else None


def describe_restart(home: Path, *, by_force: bool = False) -> str:
    """Return in words who starts an agent that was stopped. by_force: it was killed."""
    home = home.absolute()
    if by_force and unit_path(home).exists():
        return "systemd restarts it within a minute; to keep it idle, use prs pause"
    if unit_path(home).exists():
        return "systemd starts it with the machine, or at once with: prs start"
    try:
        lines = _lines_of_cron(home)
    except HomeError as error:
        return f"the crontab cannot be read, so its start method is unknown: {error}"
    if lines:
        return (
            "cron starts it within the hour, in this site's hours; to keep it idle, use prs pause"
        )
    return "no start method is installed: start it with prs run"


def _lines_of_cron(home: Path) -> list[str]:
    if not shutil.which("crontab"):
        return []
    return [line for line in block_in(read_crontab(), home) if _starts(line)]
