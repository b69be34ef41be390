"""`prs` ends at once, with all that it said and the code that it meant."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PRS = str(Path(sys.executable).parent / "prs")


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["url", "HTTP://Example.org/a/../b#c"], 0, "http://example.org/b"),
        (["url", "ftp://example.org/"], 1, "only http and https"),
        (["unknown"], 2, "No such command"),
        (["url", "--help"], 0, "Usage: prs url"),
    ],
)
def test_the_exit_code_and_the_words_arrive(words: list[str], code: int, said: str) -> None:
    """Through pipes too, where output waits in memory until the end."""
    ended = subprocess.run([PRS, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == code
    assert said in ended.stdout + ended.stderr


@pytest.mark.e2e
def test_a_reader_that_has_left_is_no_trouble() -> None:
    """As in `prs settings | head -1`."""
    process = subprocess.Popen([PRS, "settings"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert b"Traceback" not in errors
