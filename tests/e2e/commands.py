"""The manager's commands in the tests' own process: asked over and over, a process each is felt.

The command is the shipped one, with its Unix socket and its answer as JSON; what is not tried here
is only that `prsm` starts, which `test_manager_serve` does.
"""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner

from manager.cli import main
from tools.demo.system import CommandError, Manager

__all__ = ["AskedManager"]


class AskedManager(Manager):
    """`prsm serve` as a process; the other commands here."""

    def prsm(self, *words: str) -> Any:
        """Run a `prsm` command with --json and return what it says."""
        done = CliRunner().invoke(main, ["--data", str(self.data), *words, "--json"])
        if done.exit_code != 0:
            raise CommandError(f"prsm {' '.join(words)}: {done.output}")
        return json.loads(done.stdout) if done.stdout.strip() else None
