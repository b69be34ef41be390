"""Output of `prs run`: sentences, one live line on a terminal, errors when quiet.

a terminal      sentences with their time, and below them one line, renewed each second
a pipe, a file  the sentences only: no control characters
--quiet         only faults that have lasted for ten minutes, or last at the end; so
                cron's mail means something
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Final

import click

from agent.cli.options import plain
from agent.control.status import Status

__all__ = ["Terminal", "live_line"]

PATIENCE_MS: Final = 600_000
"""A manager that is restarted, a disk that is being tidied: most troubles mend themselves."""

_BEGIN_LINE: Final = "\r\x1b[2K"
_NUMBER: Final = re.compile(r"[0-9]+")  # of bytes that are free, of attempts: the same trouble


def live_line(status: Status, columns: int) -> str:
    """Return how it goes, in one line of a terminal: what matters most comes first."""
    parts = [
        status.state,
        f"{status.pages_per_s:.1f} pages/s",
        f"{status.active_hosts} of {status.hosts} hosts",
        f"queue {status.queue:,}",
        f"{status.errors:,} errors",
        f"{status.pages:,} pages",
        f"{status.units_finished:,}/{status.units:,} units",
        f"{status.bytes_per_s / 1e6:.1f} MB/s",
    ]
    if status.units_failed:
        parts.insert(7, f"{status.units_failed:,} failed")
    if status.backing_off:
        parts.insert(5, f"{status.backing_off} backing off")
    if status.permit_remaining_s:
        parts.append(f"permit {status.permit_remaining_s:.0f} s")
    if status.reason:
        parts[1:1] = [str(status.reason)]
    line = plain(" | ".join(parts))
    return line if len(line) < columns else f"{line[: columns - 2]}…"


class Terminal:
    """One run's output, on the standard error."""

    def __init__(
        self,
        *,
        quiet: bool,
        live: bool | None = None,
        write: Callable[[str], None] | None = None,
        columns: Callable[[], int] = lambda: shutil.get_terminal_size().columns,
    ) -> None:
        """live: whether a line may be replaced; None: if the standard error is a terminal."""
        self._quiet = quiet
        self._live = not quiet and (sys.stderr.isatty() if live is None else live)
        self._write = write or _to_stderr
        self._columns = columns
        self._line_shown = False
        self._wrong_since: dict[str, tuple[int, str]] = {}  # by kind: since when, and what
        self._told: set[str] = set()

    def log_line(self, text: str) -> None:
        """Print a sentence above the line."""
        if not self._quiet:
            self._print(text)

    def show_status(self, status: Status) -> None:
        """Replace the line; when quiet, print what stays wrong."""
        if self._quiet:
            self._watch(status)
        elif self._live:
            self._write(_BEGIN_LINE + live_line(status, self._columns()))
            self._line_shown = True

    def end(self, text: str) -> None:
        """Print the last sentence; when quiet, what is still wrong."""
        self.log_line(text)
        for kind, (_, wrong) in self._wrong_since.items():
            self._tell(kind, wrong)

    def clear(self) -> None:
        """Take the live line away, for others who print."""
        if self._line_shown:
            self._line_shown = False
            self._write(_BEGIN_LINE)

    def _watch(self, status: Status) -> None:
        now_ms = status.written_ms
        kinds = {_NUMBER.sub("#", wrong): wrong for wrong in map(str, status.wrong)}
        self._wrong_since = {
            kind: (self._wrong_since.get(kind, (now_ms, ""))[0], wrong)
            for kind, wrong in kinds.items()
        }
        for kind, (since_ms, wrong) in self._wrong_since.items():
            if now_ms - since_ms >= PATIENCE_MS:
                self._tell(kind, wrong)

    def _tell(self, kind: str, wrong: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            self._print(wrong)

    def _print(self, text: str) -> None:
        self.clear()
        now = datetime.now().astimezone()
        self._write(f"{now:%Y-%m-%d %H:%M:%S} {plain(text)}\n")


def _to_stderr(text: str) -> None:
    click.echo(text, nl=False, err=True)
