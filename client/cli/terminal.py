"""Progress display on standard error.

a terminal      a bar for all, and one for each file that comes; finished files as lines above
a pipe, a file  a line for each file, and each wait; no control characters
--quiet         nothing but what went wrong, so cron's mail means something
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

import click

from client.names import plain
from client.run import Taken

__all__ = ["Terminal", "bar", "in_units"]

ROWS_MOST: Final = 8
DRAW_S: Final = 0.2
BAR: Final = 24
_UP: Final = "\x1b[{}F\x1b[J"


def in_units(size_bytes: float) -> str:
    """Return bytes as people read them: `1.5 GB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size_bytes) < 1000:
            return f"{size_bytes:.0f} {unit}" if unit == "B" else f"{size_bytes:.1f} {unit}"
        size_bytes /= 1000
    return f"{size_bytes:.1f} TB"


def bar(done: int, total: int) -> str:
    """Return a bar as `[######......]  50 %`."""
    share = min(1.0, done / total) if total > 0 else 0.0
    full = round(share * BAR)
    return f"[{'#' * full}{'.' * (BAR - full)}] {share * 100:3.0f} %"


class Terminal:
    """One run's output; a `client.run.Watch`. Any thread may tell, one draws."""

    def __init__(
        self,
        *,
        quiet: bool,
        live: bool | None = None,
        write: Callable[[str], None] | None = None,
        columns: Callable[[], int] = lambda: shutil.get_terminal_size().columns,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """live: whether lines may be replaced; None: if the standard error is a terminal."""
        self._quiet = quiet
        self._live = not quiet and (sys.stderr.isatty() if live is None else live)
        self._write = write or _to_stderr
        self._columns = columns
        self._now_s = now_s
        self._changing = threading.Lock()
        self._begun_s = now_s()
        self._drawn_s = 0.0
        self._shown = 0
        self._files = self._files_done = 0
        self._total_bytes = self._came_bytes = 0
        self._coming: dict[str, int] = {}
        self._made: dict[str, tuple[int, int]] = {}

    def say(self, text: str) -> None:
        """Print a sentence."""
        if not self._quiet:
            self._print(text)

    def expect(self, files: int, size_bytes: int) -> None:
        """Learn that so much more is to come."""
        with self._changing:
            self._files += files
            self._total_bytes += size_bytes

    def received(self, name: str, count: int) -> None:
        """Learn that bytes of a file came."""
        with self._changing:
            self._made.pop(name, None)
            self._coming[name] = self._coming.get(name, 0) + count
            self._came_bytes += count

    def job_progress(self, name: str, done: int, total: int) -> None:
        """Learn how far the server is with a job."""
        with self._changing:
            begun = name not in self._made
            self._made[name] = (done, total)
        if begun and not self._live:
            self.say(f"{name}: the server makes it")

    def finished(self, taken: Taken) -> None:
        """Learn the result of a file."""
        with self._changing:
            self._files_done += 1
            for name in [each for each in self._coming if taken.place.endswith(each)]:
                del self._coming[name]
        if taken.state == "failed":
            self._print(f"failed: {taken.place}: {taken.problem}")
        else:
            self.say(f"{taken.state}: {taken.place} ({in_units(taken.size_bytes)})")

    def redraw(self) -> None:
        """Redraw the bars, a few times a second."""
        if self._live and self._now_s() - self._drawn_s >= DRAW_S:
            self._drawn_s = self._now_s()
            with self._changing:
                self._draw()

    def clear(self) -> None:
        """Take the bars away, for others who print."""
        with self._changing:
            self._erase()

    def _draw(self) -> None:
        rows = [self._summary()]
        for name, (done, total) in list(self._made.items())[:ROWS_MOST]:
            rows.append(f"  {bar(done, total)} the server makes {name}: {done:,} captures")
        for name, count in list(self._coming.items())[: ROWS_MOST - 1]:
            rows.append(f"  {in_units(count):>10} {name}")
        width = max(20, self._columns() - 1)
        self._erase()
        self._write("".join(f"{plain(row)[:width]}\n" for row in rows))
        self._shown = len(rows)

    def _summary(self) -> str:
        spent_s = max(0.001, self._now_s() - self._begun_s)
        rate = self._came_bytes / spent_s
        left_bytes = self._total_bytes - self._came_bytes
        left = f"{left_bytes / rate:,.0f} s left" if rate > 0 and left_bytes > 0 else ""
        return (
            f"{bar(self._came_bytes, self._total_bytes)} {in_units(self._came_bytes)} of "
            f"{in_units(self._total_bytes)}  {in_units(rate)}/s  "
            f"{self._files_done} of {self._files} files  {left}"
        )

    def _erase(self) -> None:
        if self._shown:
            self._write(_UP.format(self._shown))
            self._shown = 0

    def _print(self, text: str) -> None:
        with self._changing:
            self._erase()
            self._write(plain(text) + "\n")


def _to_stderr(text: str) -> None:
    click.echo(text, nl=False, err=True)
