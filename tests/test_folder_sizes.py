"""A folder is read at a glance: it has at most 25 Python files, those of its tests too."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
MOST_FILES: Final = 25
PACKAGES: Final = (
    *("agent", "benchmarks", "client", "launcher", "manager", "shared", "simweb", "tests"),
    "tools",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_folder_has_more_files_than_one_reads_at_a_glance(package: str) -> None:
    """More of them are a subject that wants a folder of its own."""
    folders = [
        folder
        for folder in (ROOT / package, *(ROOT / package).rglob("*/"))
        if not {"node_modules", ".venv", "build"} & set(folder.relative_to(ROOT).parts)
    ]
    counts = {
        str(folder.relative_to(ROOT)): len([*folder.glob("*.py")])
        for folder in folders
        if folder.is_dir()
    }
    assert sum(counts.values()) > 0
    assert {name: count for name, count in counts.items() if count > MOST_FILES} == {}
