"""Programs whose output finds no room say so, and their exit code does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("module", "arguments", "code"),
    [
        ("manager.cli", ("settings",), 1),
        ("agent.cli", ("settings",), 1),
        ("agent.cli", ("--version",), 1),
        ("client.cli", ("get", "--help"), 5),
    ],
)
def test_output_that_finds_no_room_is_an_error_in_words(
    module: str, arguments: tuple[str, ...], code: int
) -> None:
    """A list that is not whole must not look like one: a sentence, no traceback, an exit code."""
    program = f"import sys; from {module} import main; sys.exit(main())"
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("Error: standard output: no room (No space left on device)")
    assert done.stderr.count("\n") == 1
