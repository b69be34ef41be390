"""Start and end the programs of a whole system: shipped commands, each in a separate process.

`Manager` and `Agent` are what a person would type, written down once; the demonstration and the
end-to-end tests use them. Invariant: whatever was started is ended by `stop`, and nothing here
reaches into a program otherwise than by its commands, its API and its files.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.held_port import HeldPort
from tools.pace import polls

__all__ = ["BIN", "Agent", "CommandError", "Manager", "wait_for"]

BIN = Path(sys.executable).parent


class CommandError(Exception):
    """A command failed; the message is what it printed."""


def command(*words: str, typed: str = "", **environment: str) -> str:
    """Run a shipped command and return what it printed; `typed` is its standard input.

    Raises CommandError.
    """
    outcome = subprocess.run(
        [str(BIN / words[0]), *words[1:]],
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    if outcome.returncode != 0:
        raise CommandError(f"{' '.join(words)}: {outcome.stdout}{outcome.stderr}")
    return outcome.stdout


def wait_for(what: str, ready: Any, *, seconds: float, every_s: float = 0.1) -> Any:
    """Call `ready` until it returns something true, and return that.

    seconds: of a quiet machine (`tools/pace.py`). Raises TimeoutError.
    """
    for _ in polls(seconds, every_s):
        if found := ready():
            return found
    raise TimeoutError(f"{what}: not within {seconds:.0f} s of a quiet machine")


@dataclass
class Program:
    """One process and its log file."""

    words: list[str]
    log: Path
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; what it prints is appended to its log."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(BIN / self.words[0]), *self.words[1:]],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=os.environ | self.environment,
            )

    @property
    def running(self) -> bool:
        """Return whether it runs."""
        return self.process is not None and self.process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, where it still runs."""
        if self.process is not None and self.running:
            self.process.send_signal(number)

    def stop(self, seconds: float = 20.0) -> None:
        """End it politely, then firmly."""
        if self.process is None:
            return
        self.send(signal.SIGTERM)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it as a power cut would: SIGKILL."""
        if self.process is not None:
            self.send(signal.SIGKILL)
            self.process.wait()


class Served:
    """A program of a system, which is ended with it."""

    program: Program

    def stop(self) -> None:
        """End it."""
        self.program.stop()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.program.kill()


class Manager(Served):
    """`prsm serve` on a data directory, and the other `prsm` commands."""

    def __init__(self, data: Path, settings: str = "") -> None:
        self.data = data
        data.mkdir(parents=True, exist_ok=True)
        if settings:
            (data / "prsm.toml").write_text(settings)
        self._port = HeldPort()
        self.url = f"http://127.0.0.1:{self._port.number}"
        self.program = Program(
            ["prsm", "serve", "--listen", f"127.0.0.1:{self._port.number}"],
            data.parent / "manager.log",
            {"PRSM_DATA": str(data)},
        )

    def start(self) -> Manager:
        """Start it and wait until it answers."""
        self.program.start()
        wait_for("prsm serve", self._answers, seconds=60)
        return self

    def run(self, *words: str, typed: str = "") -> str:
        """Run a `prsm` command and return what it printed."""
        return command("prsm", *words, typed=typed, PRSM_DATA=str(self.data))

    def prsm(self, *words: str) -> Any:
        """Run a `prsm` command with --json and return what it says."""
        printed = self.run(*words, "--json")
        return json.loads(printed) if printed.strip() else None

    def add_user(self, name: str, password: str, role: str) -> None:
        """Add a person who may log in at the console."""
        self.run("users", "add", name, "--role", role, "--password-stdin", typed=password)

    def _answers(self) -> bool:
        if not self.program.running:
            raise CommandError(f"prsm serve ended: {self.program.log.read_text()[-2000:]}")
        if not (self.data / "prsm.sock").exists():
            return False
        try:
            self.prsm("rounds", "list")
        except CommandError:
            return False
        return True


class Agent(Served):
    """`prs` in a separate home directory."""

    def __init__(self, home: Path, name: str, settings: str) -> None:
        self.home, self.name = home, name
        home.mkdir(parents=True, exist_ok=True)
        (home / "prs.toml").write_text(settings)
        self.environment = {"PRS_HOME": str(home)}
        self.program = Program(["prs", "run", "--quiet"], home / "run.log", self.environment)

    def enrol(self, url: str, token: str) -> Agent:
        """Make the agent's key known to the manager."""
        command("prs", "enrol", url, "--name", self.name, typed=token, **self.environment)
        return self

    def prs(self, *words: str) -> str:
        """Run a `prs` command and return what it printed."""
        return command("prs", *words, **self.environment)

    def start(self) -> Agent:
        """Start `prs run`."""
        self.program.start()
        return self
