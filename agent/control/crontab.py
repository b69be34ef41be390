"""The lines of one agent in its user's crontab: between two marks, everything else untouched.

Invariant: whatever is written, the lines of the user and of other homes stay as they are; the same
lines written twice are there once.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable
from pathlib import Path

from agent.errors import HomeError

__all__ = ["block_in", "cron_command", "read_crontab", "with_block", "write_crontab"]


def cron_command(words: Iterable[str]) -> str:
    """Return a command as crontab(5) takes it: quoted for sh, and `%` is no end of line."""
    line = shlex.join(words)
    if not line.isprintable():
        raise HomeError("agent_errors.crontab_word", text=line)
    return line.replace("%", "\\%")


def block_in(table: str, home: Path) -> list[str]:
    """Return the lines of a home, without the marks; none: cron does not start it."""
    first, last = _marks(home)
    lines = table.splitlines()
    if first not in lines:
        return []
    start = lines.index(first) + 1
    end = lines.index(last, start) if last in lines[start:] else start
    return lines[start:end]


def with_block(table: str, home: Path, block: Iterable[str]) -> str:
    """Return a crontab in which a home has these lines, at the end; none: no marks either."""
    first, last = _marks(home)
    kept: list[str] = []
    lines = table.splitlines()
    while lines:
        line = lines.pop(0)
        if line == first and last in lines:
            del lines[: lines.index(last) + 1]
        elif line != first:
            kept.append(line)
    block = list(block)
    kept += [first, *block, last] if block else []
    return "".join(f"{line}\n" for line in kept)


def read_crontab() -> str:
    """Return the crontab of this user; empty: there is none. Raises HomeError."""
    done = _crontab("-l")
    if done.returncode == 0:
        return done.stdout
    if "no crontab" in done.stderr.lower():
        return ""
    raise HomeError("agent_errors.crontab_failed", command="crontab -l", why=done.stderr.strip())


def write_crontab(table: str) -> None:
    """Replace the crontab of this user; cron looks at its form first. Raises HomeError."""
    done = _crontab("-", typed=table) if table else _crontab("-r")
    if done.returncode and (table or "no crontab" not in done.stderr.lower()):
        raise HomeError("agent_errors.crontab_failed", command="crontab", why=done.stderr.strip())


def _crontab(*words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603  # words of ours
            ["crontab", *words],  # noqa: S607  # where the system has it
            input=typed,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise HomeError("agent_errors.no_cron") from error


def _marks(home: Path) -> tuple[str, str]:
    return (
        f"# BEGIN prs {home} (written by `prs schedule`)",
        f"# END prs {home}",
    )
