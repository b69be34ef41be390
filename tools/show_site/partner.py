"""The user at the site: types lines into a shell, and reads the output."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tools.demo.system import wait_for
from tools.show_site.room import HERE, inside

__all__ = ["LONG_S", "PRS", "Partner", "StoryError", "print_title"]

PRS = "~/prs/bin/prs"
LONG_S = 1200.0
"""An emulated processor takes ten times as long as this one."""


class StoryError(Exception):
    """Something was not as the story says; the message is what it was."""


class Partner:
    """A user. name: whom to be, by `su -`; empty: who we are, with a home of his own.

    home: as seen from here, in whatever system he is.
    """

    def __init__(self, home: Path, name: str = "", system: Path = HERE) -> None:
        self.home = home
        self.name = name
        self.system = system

    def types(self, line: str, *, code: int | None = 0, most: int = 12) -> str:
        """Run a line in a login shell, show it with the last lines of its output; return those.

        code: it must end so; None: however it ends. Raises StoryError.
        """
        print(f"{self.name or 'you'}$ {line}", flush=True)
        done = self._run(line)
        shown = done.stdout.rstrip().splitlines()
        for text in [*(["..."] if len(shown) > most else []), *shown[-most:]]:
            print(f"    {text}")
        if code is not None and done.returncode != code:
            raise StoryError(f"{line}: ended with {done.returncode}, not {code}")
        if done.returncode:
            print(f"    (exit code {done.returncode})")
        return done.stdout

    def output_of(self, line: str) -> str:
        """Run a line and return what it says, whatever becomes of it."""
        return self._run(line).stdout

    def start(self, line: str) -> None:
        """Run a line in the background."""
        print(f"{self.name or 'you'}$ {line} &")
        self.output_of(f"nohup {line} >/dev/null 2>&1 </dev/null &")

    def sees(self, what: str, line: str, text: str, seconds: float = LONG_S) -> str:
        """Wait until a line says a text; return what it said. Raises TimeoutError."""

        def look() -> str:
            said = self.output_of(line)
            return said if text in said else ""

        found: str = wait_for(what, look, seconds=seconds, every_s=1.0)
        return found

    def file(self, name: str) -> Path:
        """Return a file of his home."""
        return self.home / name

    def check_runs(self, version: str) -> str:
        """Return the release that is run here. Raises StoryError where it is another."""
        runs = self.file("prs/current").readlink().name
        if runs != version:
            raise StoryError(f"{runs} runs here, not {version}")
        return runs

    def _run(self, line: str) -> subprocess.CompletedProcess[str]:
        if self.name:
            words = inside(self.system, "su", "-", self.name, "-c", line)
            environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "dumb"}
        else:
            words = ["/bin/sh", "-c", line]
            plain = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
            environment = {**plain, "HOME": str(self.home)}
        return subprocess.run(
            words,
            cwd=self.home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )


def print_title(text: str) -> None:
    """Print the title of the next step."""
    print(f"\n== {text}", flush=True)
