"""Where the test cases that others wrote lie: ../shared/fixtures beside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "shared" / "fixtures"


def fixture_folder(name: str) -> Path:
    """Return the folder of one fixture set; skip the calling test when it is not there."""
    folder = FIXTURES / name
    if not folder.is_dir():
        pytest.skip(f"no folder {name} under ../shared/fixtures")
    return folder
