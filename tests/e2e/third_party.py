"""A third party: a folder, a login, and the shipped `prs-get` as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.manager_process import prsm

__all__ = ["Done", "ThirdParty", "new_token"]

CODE = "import sys; from client.cli import main; sys.exit(main())"
PATIENCE_S = 240.0


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return what it printed with --json."""
        return json.loads(self.out)


@dataclass
class ThirdParty:
    """Somebody who takes captures. folder: for the login and what is taken."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def taken(self) -> Path:
        """Return where captures are taken to."""
        return self.folder / "taken"

    def files(self) -> dict[str, bytes]:
        """Return what lies under its name, by place."""
        return {
            str(path.relative_to(self.taken)): path.read_bytes()
            for path in self.taken.rglob("*")
            if path.is_file() and ".prs-get" not in path.parts
        }

    def login(self, url: str, token: str) -> Done:
        """Log in with a token on standard input; must succeed."""
        done = self.run("login", url, stdin=token + "\n")
        assert done.code == 0, done.err
        return done

    def get(self, *arguments: str, code: int = 0) -> Done:
        """Take captures."""
        done = self.run("get", "-o", str(self.taken), *arguments)
        assert done.code == code, (done.code, done.out, done.err)
        return done

    def run(self, *arguments: str, stdin: str = "") -> Done:
        """Run a command to its end."""
        done = subprocess.run(
            [sys.executable, "-c", CODE, *arguments],
            input=stdin, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
            env=self._environment(),
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str, before: str = "") -> subprocess.Popen[str]:
        """Start a command. before: shell words that are run in its shell first."""
        command = [sys.executable, "-c", CODE, *arguments]
        if before:
            command = ["/bin/sh", "-c", f'{before}; exec "$@"', "sh", *command]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self._environment(),
        )  # fmt: skip

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PRS_GET_HOME": str(self.folder / "login"),
            **self.environment,
        }


def new_token(data: Path, name: str = "library", *options: str) -> str:
    """Register a third party at a manager that runs; return its token."""
    prsm(data, "clients", "add", name, "--contact", "a@library.example")
    return prsm(data, "clients", "token", name, *options).strip().splitlines()[-1]
