"""The version that the programs tell."""

from __future__ import annotations

import tomllib
from pathlib import Path

from shared.version import VERSION


def test_it_is_that_of_the_project() -> None:
    """It stands in two places, because one of them is slow to ask."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    assert tomllib.loads(project.read_text())["project"]["version"] == VERSION
