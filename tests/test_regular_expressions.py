"""Rules for the regular expressions of all programs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
POSSESSIVE_GROUP = re.compile(r"""\)(?:[*+?]|\{[0-9,]+\})\+|\(\?>""")


@pytest.mark.parametrize("folder", ["shared", "manager", "agent", "simweb"])
def test_no_group_is_possessive(folder: str) -> None:
    """Python before 3.11.5, as Debian 12 has it, matches such groups wrongly.

    A single character or class may be: `[a-z]*+`. Source: CPython, gh-106052.
    """
    found = [
        f"{path.relative_to(PROJECT)}:{number}: {line.strip()}"
        for path in sorted((PROJECT / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if POSSESSIVE_GROUP.search(line) and ('r"' in line or "r'" in line)
    ]
    assert found == []
