"""Which files of a tree the project's wheel is built from, with Git and without."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.programs import program
from tools.bundle.archive import ROOT, commit_time, project_files

SOURCES = (".gitignore", "pyproject.toml", "agent/run.py", "agent/build.py", "docs/new page.md")
MADE = (".venv/bin/python", "build/x.py", "agent/__pycache__/run.pyc", "shared/native/made/a.so")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree of sources, and of what is made beside them."""
    for name in (*SOURCES, *MADE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    shutil.copy(ROOT / ".gitignore", tmp_path / ".gitignore")
    return tmp_path


def test_an_archive_of_the_sources_needs_no_git(tree: Path) -> None:
    """What is made is left out; the time is the one that the archive gave its files."""
    os.utime(tree / "pyproject.toml", (1_800_000_000, 1_800_000_000))
    assert project_files(tree) == sorted(SOURCES)
    assert commit_time(tree) == 1_800_000_000


def test_a_repository_is_taken_as_git_lists_it(tree: Path) -> None:
    """Also what is not committed yet."""
    subprocess.run([program("git"), "init", "-q"], cwd=tree, check=True)
    assert sorted(project_files(tree)) == sorted(SOURCES)


def test_a_machine_without_git_builds_a_repository_all_the_same(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git's folder is no source."""
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("x")
    monkeypatch.setenv("PATH", str(tree / "nothing"))
    assert project_files(tree) == sorted(SOURCES)
