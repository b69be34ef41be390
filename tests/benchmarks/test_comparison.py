"""A benchmark is compared with an old commit in one run, by its RESULT line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.comparison import check_out, figures_of, ratios_of, read_arguments

MAKEFILE = "dev:\n\t@mkdir -p .venv/bin && ln -sf {python} .venv/bin/python\n"


def test_numbers_of_a_result_are_named_by_their_path() -> None:
    output = 'a table\nRESULT {"old": 1}\nRESULT {"a": {"b": [1, 2.5]}, "ok": true, "name": "x"}\n'
    assert figures_of(output) == {"a.b[0]": 1.0, "a.b[1]": 2.5}


def test_a_benchmark_without_a_result_is_refused() -> None:
    with pytest.raises(ValueError, match="RESULT"):
        figures_of("a table only\n")


def test_the_ratio_is_of_medians_and_of_figures_that_both_sides_have() -> None:
    runs = {
        "old": [{"cpu_ms": 10, "gone": 1, "zero": 0}, {"cpu_ms": 30, "gone": 1, "zero": 0}],
        "new": [{"cpu_ms": 20, "zero": 1}, {"cpu_ms": 24, "zero": 1}],
    }
    assert ratios_of(runs, ()) == {"cpu_ms": (20, 22, 1.1)}
    assert ratios_of(runs, ("rss",)) == {}


def test_what_stands_behind_two_dashes_is_the_benchmarks() -> None:
    asked = read_arguments(["v1.0", "console", "--rounds", "2", "--", "--only", "sqlite"])
    assert (asked.old, asked.benchmark, asked.rounds) == ("v1.0", "console", 2)
    assert asked.arguments == ["--only", "sqlite"]
    assert read_arguments(["v1.0", "console"]).arguments == []


def test_an_old_commit_is_checked_out_with_its_own_environment(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    _git(root, "init", "-q")
    (root / "Makefile").write_text(MAKEFILE.format(python=sys.executable))
    (root / "figure").write_text("1")
    (root / ".gitignore").write_text("build/\n.venv/\n")
    _git(root, "add", ".")
    _git(root, "commit", "-q", "-m", "first")
    (root / "figure").write_text("2")
    _git(root, "commit", "-q", "-a", "-m", "second")
    for _ in range(2):  # the second time it is there already
        folder = check_out(root, "HEAD~1")
    assert folder.is_relative_to(root / "build")
    assert (folder / "figure").read_text() == "1"
    assert (folder / ".venv/bin/python").exists()
    with pytest.raises(SystemExit, match="not a commit"):
        check_out(root, "no-such-commit")


def _git(root: Path, *words: str) -> None:
    person = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "-C", str(root), *person, *words], check=True)
