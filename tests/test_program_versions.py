"""Each program says its version."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ([BIN / "prsm"], "prsm"),
        ([BIN / "prs"], "prs"),
        ([BIN / "prs-get"], "prs-get"),
        ([sys.executable, "-m", "launcher"], "launcher"),
        ([sys.executable, "-m", "simweb"], "simweb"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_program_says_its_version(words: list[str], name: str) -> None:
    """`--version` prints the program's name and the version of the release."""
    done = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{name} {version('prsm')}\n"
